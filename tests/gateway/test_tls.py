"""TLS: what is refused without it, and who is let in with it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import grpc
import pytest

from arena.errors import Unavailable, UserError
from arena.gateway.process import advertised
from arena.gateway.relay import RelayClient, dial_grpc, start_relay_server
from arena.gateway.server import listen
from arena.gateway.tls import play_credentials, relay_channel_credentials, relay_server_credentials
from arena.settings import GatewaySettings, RelaySettings, Settings
from botarena.address import Target
from botarena.errors import Misconfigured
from tests.gateway.certificates import Authority
from tests.gateway.harness import Arena

NOT_KNOWN_TO_BE_HERE = "LOCALHOST:0"
"""This machine, but not as one writes it: nothing is bound that others could reach."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A CA."""
    return Authority(tmp_path_factory.mktemp("ca"))


def relay_settings(authority: Authority, name: str) -> RelaySettings:
    """Mutual TLS as ``name``."""
    certificate, key = authority.issue(name)
    return RelaySettings(str(authority.ca), str(certificate), str(key))


def attach(address: str, settings: RelaySettings) -> RelayClient:
    """A worker that dials."""
    dial = partial(dial_grpc, credentials=relay_channel_credentials(settings))
    return RelayClient(address, worker="w", epoch=1, on_event=lambda _: None, on_down=lambda _: None, dial=dial)


async def test_a_worker_is_let_in_by_its_certificate_alone(authority: Authority, tmp_path: Path) -> None:
    """Over mutual TLS a worker of ours attaches; without a certificate, with one of another CA, or in plaintext, not."""
    credentials = relay_server_credentials(relay_settings(authority, "gateway"))
    async with Arena() as arena:
        server = await start_relay_server(arena.core, "127.0.0.1:0", credentials=credentials)
        good = attach(server.address, relay_settings(authority, "worker"))
        await good.start()
        assert good.gateway == arena.core.name
        await good.close()
        stranger = relay_settings(Authority(tmp_path / "other", "another"), "stranger")
        trusting = RelaySettings(str(authority.ca), stranger.tls_certificate, stranger.tls_key)
        for settings in (RelaySettings(), stranger, trusting):
            with pytest.raises(Unavailable):
                await attach(server.address, settings).start(timeout_s=2)
        bare = grpc.ssl_channel_credentials(authority.ca.read_bytes())
        nobody = RelayClient(
            server.address,
            worker="w",
            epoch=2,
            on_event=lambda _: None,
            on_down=lambda _: None,
            dial=partial(dial_grpc, credentials=bare),
        )
        with pytest.raises(Unavailable):
            await nobody.start(timeout_s=2)
        await server.stop()


async def test_off_loopback_there_is_tls_or_nothing(authority: Authority) -> None:
    """Another address than loopback is refused in plaintext, whatever its form, unless the network is said to be ours."""
    server = grpc.aio.server()
    for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:7700", "arena.example:7700", NOT_KNOWN_TO_BE_HERE):
        with pytest.raises(UserError, match="needs TLS"):
            listen(server, address)
    assert listen(server, NOT_KNOWN_TO_BE_HERE, trusted_network=True).startswith("LOCALHOST:")
    certificate, key = authority.issue("public")
    credentials = play_credentials(GatewaySettings(tls_certificate=str(certificate), tls_key=str(key)))
    assert listen(server, NOT_KNOWN_TO_BE_HERE, credentials).startswith("LOCALHOST:")


def test_half_a_setting_is_an_error_that_names_the_other_half(authority: Authority) -> None:
    """A certificate without its key, a CA without a certificate, and a file that is not there."""
    with pytest.raises(UserError, match=r"gateway\.tls_key"):
        play_credentials(GatewaySettings(tls_certificate=str(authority.ca)))
    with pytest.raises(UserError, match=r"relay\.tls_certificate"):
        relay_channel_credentials(RelaySettings(tls_ca=str(authority.ca)))
    with pytest.raises(UserError, match="cannot read"):
        play_credentials(GatewaySettings(tls_certificate="/nowhere/a.pem", tls_key="/nowhere/a.key"))
    assert play_credentials(GatewaySettings()) is None
    assert relay_server_credentials(RelaySettings()) is None


def test_workers_are_told_an_address_that_can_be_dialled() -> None:
    """Who listens everywhere is known by its host's name; what is set wins."""
    everywhere = advertised(Settings(), "0.0.0.0:7703")
    assert everywhere.endswith(":7703")
    assert not everywhere.startswith("0.0.0.0")
    assert advertised(Settings(), "unix:/run/relay.sock") == "unix:/run/relay.sock"
    assert advertised(Settings(gateway=GatewaySettings(relay_address="g1:1")), "0.0.0.0:7703") == "g1:1"


def test_a_bot_with_a_private_ca_speaks_tls_on_loopback_too(authority: Authority, tmp_path: Path) -> None:
    """``ca`` switches TLS on, wants a certificate in PEM, and does not go with ``insecure``."""
    assert Target.parse("localhost:1", ca=str(authority.ca)).tls
    assert not Target.parse("localhost:1").tls
    for wrong in ({"ca": str(tmp_path / "none.pem")}, {"ca": __file__}, {"ca": str(authority.ca), "insecure": True}):
        with pytest.raises(Misconfigured):
            Target.parse("localhost:1", **wrong)
