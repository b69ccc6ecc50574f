"""Settings: where they come from, and what a mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import engines
from arena import settings
from arena.errors import UserError
from arena.match.spec import TimeControl
from arena.settings import LadderSpec, Settings, WorkerSettings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "arena.toml"


def test_flags_beat_environment_beats_file_beats_defaults(config: Path) -> None:
    """Each source is asked in turn, for each setting by itself."""
    config.write_text('data_dir = "from-file"\n[limits]\ncredit = 1\nhello_ms = 1\n[scheduler]\nbacklog = 1\n')
    loaded = settings.load(
        {"limits.credit": 3, "gateway.listen": None},
        {"ARENA_LIMITS_CREDIT": "2", "ARENA_LIMITS_HELLO_MS": "2", "ARENA_SOMETHING_ELSE": "x"},
        config,
    )
    assert (loaded.limits.credit, loaded.limits.hello_ms, loaded.scheduler.backlog) == (3, 2, 1)
    assert loaded.gateway.listen == "127.0.0.1:7700"
    assert loaded.database_url == f"sqlite:///{Path('from-file') / 'arena.db'}"
    assert loaded.gateway.relay_listen == f"unix:{Path('from-file') / 'relay.sock'}"


def test_a_misspelt_variable_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody would notice that it does nothing. What others have with that prefix is not remarked upon."""
    theirs = {
        "ARENA_GATEWAY_PORT": "tcp://10.0.0.1:7700",
        "ARENA_GATEWAY_SERVICE_HOST": "10.0.0.1",
        "ARENA_WEB_PORT_8000_TCP_ADDR": "10.0.0.2",
        "ARENA_DATABASE_PASSWORD": "x",
        "ARENA_TOKEN": "x",
    }
    wrong = {"ARENA_GATEWAY_LISTN": "0.0.0.0:7700", "ARENA_REDIS_URI": "redis://x", "ARENA_TOKN": "x"}
    settings.load({}, {**theirs, **wrong})
    assert [record.getMessage() for record in caplog.records] == [
        "the environment's ARENA_GATEWAY_LISTN is no setting; was ARENA_GATEWAY_LISTEN meant?",
        "the environment's ARENA_REDIS_URI is no setting; was ARENA_REDIS_URL meant?",
        "the environment's ARENA_TOKN is no setting; was ARENA_TOKEN meant?",
    ]


def test_another_process_gets_the_same_settings(tmp_path: Path) -> None:
    """The environment made of settings loads as those settings."""
    first = settings.load({"data_dir": tmp_path, "scheduler.backlog": 7, "redis_url": "redis://x"}, {})
    assert settings.load({}, settings.environment(first)) == first


def test_standard_ladders() -> None:
    """One ladder for each installed game and number of players, with complete options and the standard time."""
    by_slug = {spec.slug: spec for spec in settings.standard_ladders()}
    game = engines.get("balloon-challenge")
    for players in range(game.min_players, game.max_players + 1):
        spec = by_slug[f"balloon-challenge-{players}p"]
        assert (spec.players, spec.config) == (players, game.complete_config(players, {}))
        assert spec.time_control == TimeControl(10_000, 100, 3_000)
    assert all(spec.config["dice_timer_ms"] == 3000 for spec in by_slug.values() if spec.game == "balloon-race")


def test_ladders_from_the_file_replace_the_standard_ones(config: Path) -> None:
    """A ladder needs a game and a number of players; the rest has defaults."""
    config.write_text(
        '[[ladders]]\ngame = "balloon-challenge"\nplayers = 3\n'
        '[[ladders]]\nslug = "fast"\ngame = "balloon-challenge"\nplayers = 2\nbank_ms = 500\nmove_cap_ms = 0\n'
    )
    config_of = engines.get("balloon-challenge").complete_config
    assert settings.load({}, {}, config).ladders == (
        LadderSpec("balloon-challenge-3p", "balloon-challenge", 3, config_of(3, {})),
        LadderSpec("fast", "balloon-challenge", 2, config_of(2, {}), TimeControl(500, 100, 0)),
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("data_dir = \n", "line 1"),
        ("x = 1\ny = [\n", "not valid TOML"),
        ("colour = 1\n", "no setting 'colour'; there are: .*data_dir"),
        ("[gateway]\nlisten_on = 'x'\n", "no setting 'gateway.listen_on'; there are: gateway.listen"),
        ("[gateway]\nlisten = 7700\n", "key gateway.listen: a string is needed, not 7700"),
        ("[gateway]\nlisten = '7700'\n", r"key gateway\.listen: an address as 127\.0\.0\.1:7700 is needed, not '7700'"),
        ("[web]\nlisten = 'unix:web.sock'\n", r"key web\.listen: an address as"),
        ("[worker]\nmetrics_listen = '127.0.0.1:99999'\n", r"key worker\.metrics_listen: an address as"),
        ("[scheduler]\nmetrics_listen = '::1:7702'\n", r"key scheduler\.metrics_listen: an address as"),
        ("redis_url = 'localhost:6379'\n", "key redis_url: a URL that begins with one of redis://"),
        ("[limits]\ncredit = -1\n", "key limits.credit: a whole number"),
        ("[limits]\ncredit = true\n", "key limits.credit: a whole number"),
        ("limits = 3\n", "no setting 'limits'"),
        ("data_dir = ''\n", "key data_dir: a path is needed"),
        ("ladders = 3\n", r"tables \[\[ladders\]\]"),
        ("[[ladders]]\nplayers = 3\n", "ladder 1: the key 'game' is needed"),
        ("[[ladders]]\ngame = 'chess'\nplayers = 2\n", "ladder 1: no game 'chess'"),
        ("[[ladders]]\ngame = 'balloon-challenge'\nplayers = 9\n", "ladder 1: .* players"),
        ("[[ladders]]\ngame = 'balloon-challenge'\nplayers = 2\nconfig = {x = 1}\n", "no option 'x'"),
        ("[[ladders]]\ngame = 'balloon-challenge'\nplayers = 2\nslug = 'A B'\n", "key slug"),
        ("[[ladders]]\ngame = 'balloon-challenge'\nplayers = 2\nbank = 3\n", "no key 'bank'"),
        ("[[ladders]]\ngame = 'balloon-challenge'\nplayers = 2\nbank_ms = 'x'\n", "key bank_ms"),
        ("[[ladders]]\ngame = 'balloon-challenge'\nplayers = 2\n" * 2, "the same slug: balloon-challenge-2p"),
    ],
)
def test_a_mistake_is_told_with_its_place(config: Path, content: str, message: str) -> None:
    """Every error in arena.toml names the file and the line or key."""
    config.write_text(content)
    with pytest.raises(UserError, match=message) as caught:
        settings.load({}, {}, config)
    assert str(config) in str(caught.value)


def test_mistakes_in_the_environment_name_the_variable() -> None:
    """So do flags."""
    with pytest.raises(UserError, match="ARENA_LIMITS_CREDIT: a whole number"):
        settings.load({}, {"ARENA_LIMITS_CREDIT": "many"})
    with pytest.raises(UserError, match=r"flag for limits\.credit"):
        settings.load({"limits.credit": "many"}, {})


def test_addresses_may_be_of_ipv6_and_for_bots_a_socket() -> None:
    """Brackets are those of IPv6; a socket file is for gRPC alone."""
    environment = {"ARENA_WEB_LISTEN": "[::1]:80", "ARENA_GATEWAY_LISTEN": "unix:play.sock", "ARENA_REDIS_URL": ""}
    chosen = settings.load({}, environment)
    assert settings.split_address(chosen.web.listen) == ("::1", 80)
    assert settings.is_loopback(chosen.web.listen)
    assert chosen.gateway.listen == "unix:play.sock"
    assert settings.split_address("localhost:0") == ("localhost", 0)


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    """The default file may be missing; one that somebody named may not."""
    with pytest.raises(UserError, match="no configuration file"):
        settings.load({}, {"ARENA_CONFIG": str(tmp_path / "nothing.toml")})


def test_workers_have_no_ports_beyond_the_last() -> None:
    """Each serves its metrics at a port of its own, and where there is none the two settings that say so are named."""
    workers = Settings(worker=WorkerSettings(metrics_listen="[::1]:65534")).worker
    assert [workers.metrics_address(number) for number in (0, 1)] == ["[::1]:65534", "[::1]:65535"]
    with pytest.raises(UserError, match=r"worker 2 would .* 65536, .*worker\.metrics_listen .*worker\.processes"):
        workers.metrics_address(2)
