"""What limits by address count as one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from arena.addresses import counted_as
from arena.gateway.limits import address_of


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2::7", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::7", "2001:db8:1:3::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_a_customer_of_an_ipv6_network_counts_once(host: str, counted: str) -> None:
    """2**64 addresses give nobody 2**64 times what one address may have."""
    assert counted_as(host) == counted


@pytest.mark.parametrize(
    ("peer", "counted"),
    [
        ("ipv4:192.0.2.7:50123", "192.0.2.7"),
        ("ipv6:%5B2001:db8:1:2::7%5D:50123", "2001:db8:1:2::/64"),
        ("ipv6:[::ffff:192.0.2.7]:50123", "192.0.2.7"),
        ("unix:/run/arena.sock", ""),
        ("unix:", ""),
    ],
)
def test_a_peer_of_grpc_is_counted_by_its_host(peer: str, counted: str) -> None:
    """The port says nothing, and a process of this machine is nobody's address."""
    assert address_of(SimpleNamespace(peer=lambda: peer)) == counted
