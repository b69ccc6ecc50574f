"""What limits by address count as one."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Final

CUSTOMER_BITS: Final = 64
"""What an IPv6 provider gives to one customer at least: all addresses of such a network are whoever has one of them."""


def counted_as(host: str) -> str:
    """The address itself, or for an IPv6 one its network of 64 bits. Other hosts, such as a socket's name, stay as they are."""
    try:
        address = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address if address.is_loopback else IPv6Network((address, CUSTOMER_BITS), strict=False))
