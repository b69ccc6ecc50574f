"""Settings of every process of an arena: flags > environment (``ARENA_*``) > ``arena.toml`` > defaults.

A setting has one dotted name, the same everywhere: ``gateway.listen`` is the key ``listen`` of the table ``[gateway]``
in arena.toml, ``ARENA_GATEWAY_LISTEN`` in the environment, and what a command's flag sets. Unknown environment
variables are ignored (the SDK and Kubernetes have some with the same prefix), with a warning where one looks like a known
one; unknown keys in arena.toml are errors.
"""

from __future__ import annotations

import difflib
import ipaddress
import logging
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, get_type_hints

import engines
from arena.errors import UserError
from arena.match.spec import TimeControl

log = logging.getLogger(__name__)

CONFIG_FILE: Final = "arena.toml"
LOG_FORMATS: Final = ("text", "json")
SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TRUTH: Final = {"true": True, "false": False}
_HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]+):[0-9]{1,5}")
_REDIS: Final = ("redis://", "rediss://", "unix://", "redis+socket://")
MAX_PORT: Final = 65_535
MOST: Final = 1_000_000_000
"""Of whatever is counted or measured: in ms more than a week, and what every database and message takes."""
_OF_BOTS: Final = ("ADDRESS", "TOKEN", "CA", "INSTANCE", "LADDERS", "LOG_LEVEL", "CONFIG")
"""What else begins with ``ARENA_``: the SDK's settings, and where arena.toml is."""
_ALIKE: Final = 0.9
_MAY_BE_SOCKETS: Final = ("gateway.listen", "gateway.relay_listen")
STANDARD_OPTIONS: Final[Mapping[str, Mapping[str, bool | int]]] = {"balloon-race": {"dice_timer_ms": 3000}}
"""Options of the standard ladders that differ from the game's own defaults."""


@dataclass(frozen=True, slots=True)
class LadderSpec:
    """A ladder to hold: one game, number of players, complete config and time control."""

    slug: str
    game: str
    players: int
    config: Mapping[str, bool | int]
    time_control: TimeControl = field(default_factory=TimeControl)


def standard_ladders() -> tuple[LadderSpec, ...]:
    """One ladder for each installed game and number of players, named like ``balloon-challenge-3p``."""
    return tuple(
        LadderSpec(
            slug=f"{game.name}-{players}p",
            game=game.name,
            players=players,
            config=game.complete_config(players, STANDARD_OPTIONS.get(game.name, {})),
        )
        for game in _importable()
        for players in range(game.min_players, game.max_players + 1)
    )


def _importable() -> Iterator[engines.Game]:
    """Registered games; one whose package is not there (a missing extra) is left out."""
    for name in engines.names():
        try:
            yield engines.get(name)
        except ModuleNotFoundError:
            continue


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Where bots (``listen``), workers (``relay_listen``: ``unix:path`` or ``host:port``) and Prometheus connect.

    ``tls_certificate`` (with its chain) and ``tls_key``, paths of PEM files, are for bots; off loopback they must be
    there. ``relay_address`` is what workers are told to dial, by default where the relay listens.
    ``trusted_network`` serves in plaintext off loopback: whoever reaches the ports is taken to be one of us, as in a
    private network of containers.
    """

    listen: str = "127.0.0.1:7700"
    tls_certificate: str = ""
    tls_key: str = ""
    relay_listen: str = ""
    relay_address: str = ""
    metrics_listen: str = "127.0.0.1:7701"
    trusted_network: bool = False


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """Mutual TLS between workers and gateways on several hosts: PEM files of a private CA, and of this process."""

    tls_ca: str = ""
    tls_certificate: str = ""
    tls_key: str = ""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What processes write about themselves: ``text``, or ``json``, one object a line, with an event for each step of a set."""

    format: str = "text"


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Where the pages are; ``/metrics`` of the web process is served there too.

    ``admin_listen``: where the admin pages are, nowhere if it is empty; a loopback address, unless in a
    ``gateway.trusted_network``. ``tables``: games that people play in the browser at once, ``tables_per_address`` of them
    opened by one address. ``streams_per_address``: live pages, running matches and tables that one address watches at once.
    """

    listen: str = "127.0.0.1:7780"
    admin_listen: str = ""
    tables: int = 32
    tables_per_address: int = 8
    streams_per_address: int = 100


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Worker processes of this machine, and how many sets each plays at once.

    The k-th worker, from 0, serves its metrics at the port of ``metrics_listen`` plus k.
    """

    processes: int = field(default_factory=lambda: os.cpu_count() or 1)
    max_sets: int = 64
    metrics_listen: str = "127.0.0.1:7710"

    def metrics_address(self, number: int) -> str:
        """Where the worker of that number serves its metrics. Raises UserError where there is no such port."""
        host, port = self.metrics_listen.rpartition(":")[::2]
        if int(port) + number > MAX_PORT:
            raise UserError(
                f"worker {number} would serve its metrics at port {int(port) + number}, and {MAX_PORT} is the last: "
                "set worker.metrics_listen to a lower port, or worker.processes to fewer"
            )
        return f"{host}:{int(port) + number}"


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """How sets are made: a round each ``interval_ms``, at most ``backlog`` sets waiting for a worker on each ladder.

    ``house_sets`` bounds the sets of house bots alone that are in flight, ``pair_sets_a_day`` the rated sets of two
    external bots.
    """

    interval_ms: int = 500
    backlog: int = 32
    house_sets: int = 2
    pair_sets_a_day: int = 200
    metrics_listen: str = "127.0.0.1:7702"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one bot, connection or address may ask of the arena.

    A gateway lets ``start_burst`` bots in at once and ``starts_per_s`` a second after that; the others are told to wait.
    The API's requests are those of web and of the gateway's unary calls. An address may show ``bad_tokens`` at once that are
    nobody's, and one a second after that.
    ``versions_per_account``: of all bots of one account together; they are never deleted, for what they played stays.
    """

    frame_bytes: int = 64 * 1024
    credit: int = 64
    connections_per_address: int = 256
    hello_ms: int = 5_000
    bad_tokens: int = 50
    starts_per_s: int = 200
    start_burst: int = 400
    versions_per_account: int = 1_000
    messages_per_s: int = 50
    message_burst: int = 100
    api_requests_per_s: int = 50
    api_burst: int = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. An empty ``redis_url`` means an embedded server.

    ``database_url`` and ``gateway.relay_listen`` are filled in from ``data_dir`` where they are not given.
    """

    data_dir: Path = Path("arena-data")
    database_url: str = ""
    redis_url: str | None = None
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    relay: RelaySettings = field(default_factory=RelaySettings)
    web: WebSettings = field(default_factory=WebSettings)
    log: LogSettings = field(default_factory=LogSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    limits: Limits = field(default_factory=Limits)
    ladders: tuple[LadderSpec, ...] = field(default_factory=standard_ladders)

    def __post_init__(self) -> None:
        if not self.database_url:
            object.__setattr__(self, "database_url", f"sqlite:///{self.data_dir / 'arena.db'}")
        if self.log.format not in LOG_FORMATS:
            raise UserError(f"log.format is {self.log.format!r}; it must be one of {', '.join(LOG_FORMATS)}")
        if not self.gateway.relay_listen:
            relay = f"unix:{self.data_dir / 'relay.sock'}"
            object.__setattr__(self, "gateway", replace(self.gateway, relay_listen=relay))

    def required_redis(self) -> str:
        """``redis_url``, for a process that is nothing without it. Raises UserError if none is set."""
        if not self.redis_url:
            raise UserError(
                "this process needs the arena's Redis: set ARENA_REDIS_URL or redis_url in arena.toml; "
                "`arena up` starts everything with an embedded server"
            )
        return self.redis_url


def load(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    path: Path | None = None,
) -> Settings:
    """The settings of this process.

    ``flags`` maps dotted names to values, None meaning not given. ``path`` is the configuration file, by default
    ``$ARENA_CONFIG`` or arena.toml in the working directory if there is one. Raises UserError.
    """
    environ = os.environ if environ is None else environ
    path = path or (Path(environ["ARENA_CONFIG"]) if environ.get("ARENA_CONFIG") else None)
    for name, meant in misspelt(environ).items():
        log.warning("the environment's %s is no setting; was %s meant?", name, meant)
    document = _read(path or Path(CONFIG_FILE), required=path is not None)
    ladders = document.pop("ladders", None)
    values = dict(_flatten(document, path or Path(CONFIG_FILE)))
    for name in _types(Settings):
        if (text := environ.get(_variable(name))) is not None:
            values[name] = (text, _variable(name))
    for name, value in (flags or {}).items():
        if value is not None:
            values[name] = (value, f"the flag for {name}")
    settings: Settings = _build(Settings, values, "")
    if ladders is None:
        return settings
    given = {item.name: getattr(settings, item.name) for item in fields(settings)}
    return Settings(**{**given, "ladders": _ladders(ladders, path or Path(CONFIG_FILE))})


def environment(settings: Settings) -> dict[str, str]:
    """The environment variables that give another process the same settings; ladders come from its arena.toml."""
    found: dict[str, str] = {}
    for name in _types(Settings):
        value: Any = settings
        for part in name.split("."):
            value = getattr(value, part)
        if value is not None:
            found[_variable(name)] = str(value)
    return found


def misspelt(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that nobody reads but whose names are nearly those of settings, here or of bots; and these."""
    known = {*map(_variable, (*_types(Settings), *_OF_BOTS))}
    strange = [name for name in environ if name.startswith("ARENA_") and name not in known]
    alike = {name: difflib.get_close_matches(name, known, 1, _ALIKE) for name in strange}
    return {name: found[0] for name, found in alike.items() if found}


def split_address(address: str) -> tuple[str, int]:
    """Host and port of ``host:port``, the brackets of IPv6 gone."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches ``host:port``."""
    host, _ = split_address(address)
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _variable(name: str) -> str:
    return "ARENA_" + name.upper().replace(".", "_")


def _read(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if required:
            raise UserError(f"there is no configuration file {path}") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None


def _types(kind: type) -> dict[str, type]:
    """Dotted names of all scalar settings with their types."""
    found: dict[str, type] = {}
    for name, hint in get_type_hints(kind).items():
        if name == "ladders":
            continue
        if is_dataclass(hint) and isinstance(hint, type):
            found.update({f"{name}.{inner}": value for inner, value in _types(hint).items()})
        else:
            found[name] = str if hint == (str | None) else hint
    return found


def _flatten(document: Mapping[str, Any], path: Path, prefix: str = "") -> Iterator[tuple[str, tuple[object, str]]]:
    """(dotted name, (value, where it was given)) for each key of a TOML document. Raises UserError on unknown keys."""
    known = _types(Settings)
    tables = {name.split(".")[0] for name in known if "." in name}
    for key, value in document.items():
        name = prefix + key
        if isinstance(value, dict) and name in tables:
            yield from _flatten(value, path, f"{name}.")
        elif name in known:
            yield name, (value, f"{path}, key {name}")
        else:
            near = sorted(item for item in known if item.startswith(prefix)) + ([] if prefix else ["[[ladders]]"])
            raise UserError(f"{path}: there is no setting {name!r}; there are: {', '.join(near)}")


def _build(kind: type[Any], values: Mapping[str, tuple[object, str]], prefix: str) -> Any:
    arguments: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint) and isinstance(hint, type):
            arguments[name] = _build(hint, values, f"{prefix}{name}.")
        elif prefix + name in values:
            value, where = values[prefix + name]
            arguments[name] = value = _convert(value, str if hint == (str | None) else hint, where)
            if problem := _problem(prefix + name, value):
                raise UserError(f"{where}: {problem}, not {value!r}")
    return kind(**arguments)


def _problem(name: str, value: object) -> str | None:
    """What a setting needs that a string of its own kind has to be; None if it is one, or empty."""
    if not isinstance(value, str) or not value:
        return None
    if name == "redis_url" and not value.startswith(_REDIS):
        return f"a URL that begins with one of {', '.join(_REDIS)} is needed"
    if name.endswith("listen") and not (name in _MAY_BE_SOCKETS and value.startswith("unix:")):
        known = _HOST_AND_PORT.fullmatch(value) is not None and split_address(value)[1] <= MAX_PORT
        return None if known else "an address as 127.0.0.1:7700 is needed"
    return None


def _convert(value: object, kind: type, where: str) -> Any:
    if kind is Path and isinstance(value, str | Path) and str(value):
        return Path(value).expanduser()
    if kind is str and isinstance(value, str):
        return value
    if kind is bool and str(value).lower() in _TRUTH:
        return _TRUTH[str(value).lower()]
    if kind is int and not isinstance(value, bool):
        if isinstance(value, str) and re.fullmatch(r"\d+", value):
            value = int(value)
        if isinstance(value, int) and 0 <= value <= MOST:
            return value
    wanted = {
        int: f"a whole number from 0 to {MOST}",
        str: "a string",
        Path: "a path",
        bool: "true or false",
    }[kind]
    raise UserError(f"{where}: {wanted} is needed, not {value!r}")


def _ladders(document: object, path: Path) -> tuple[LadderSpec, ...]:
    if not isinstance(document, list) or not all(isinstance(item, dict) for item in document):
        raise UserError(f"{path}: ladders are written as tables [[ladders]]")
    specs = tuple(_ladder(item, f"{path}, ladder {number}") for number, item in enumerate(document, 1))
    slugs = [spec.slug for spec in specs]
    if repeated := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise UserError(f"{path}: two ladders have the same slug: {', '.join(repeated)}")
    return specs


def _ladder(item: dict[str, Any], where: str) -> LadderSpec:
    times = {spec.name: spec.default for spec in fields(TimeControl)}
    known = ("slug", "game", "players", "config", *times)
    if unknown := sorted(set(item) - set(known)):
        raise UserError(f"{where}: there is no key {unknown[0]!r}; there are: {', '.join(known)}")
    for name, kind in (("game", str), ("players", int), ("config", dict)):
        if not isinstance(item.setdefault(name, {}), kind):
            raise UserError(f"{where}: the key {name!r} is needed")
    try:
        config = engines.get(item["game"]).complete_config(item["players"], item["config"])
    except engines.GameError as error:
        raise UserError(f"{where}: {error}") from None
    slug = item.get("slug", f"{item['game']}-{item['players']}p")
    if not isinstance(slug, str) or not SLUG.fullmatch(slug):
        raise UserError(f"{where}, key slug: lower-case letters and digits joined by '-' are needed, not {slug!r}")
    given = {name: _convert(item.get(name, default), int, f"{where}, key {name}") for name, default in times.items()}
    return LadderSpec(slug, item["game"], item["players"], config, TimeControl(**given))
