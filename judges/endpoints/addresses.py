"""Which addresses this machine may be made to talk to: the one place that decides.

A base URL is read here and nowhere else. Its host is looked up, every address that comes of it has to be allowed, and
the connection goes to one of those very addresses (judges.endpoints.pinned), so that a name that answers otherwise the
second time gains nothing. The rules are applied when an endpoint is saved and again at every connection.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

import idna
from django.conf import settings
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid

LONGEST_URL = 500
_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")

# Never, whatever the operator allows: what answers there are a machine's own services, or nobody.
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "169.254.0.0/16",  # link-local, and where clouds tell a machine its secrets
        "100.100.100.200/32",  # metadata (Alibaba)
        "168.63.129.16/32",  # metadata (Azure)
        "192.0.0.0/24",  # protocol assignments, among them metadata (Oracle)
        "192.0.2.0/24",
        "192.88.99.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "64:ff9b:1::/48",  # NAT64 within a network: says nothing about what is behind
        "100::/64",
        "2001::/23",  # Teredo among them
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
        "5f00::/16",
        "fd00:ec2::/32",  # metadata (Amazon)
        "fd20:ce::/32",  # metadata (Google)
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)
# Only for hosts that the operator's setting names.
_PRIVATE = tuple(
    ipaddress.ip_network(text)
    for text in (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "::1/128",
        "fc00::/7",
    )
)
# An IPv4 address is in the last 32 bits, and is what is reached.
_WRAPPED = tuple(ipaddress.ip_network(text) for text in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96"))
# What the internet's numbers are given out of; anything else in IPv6 is for something else.
_UNICAST = ipaddress.ip_network("2000::/3")


class AddressRefused(Invalid):
    """Not to be connected to. `message` says why; it names no address that a lookup gave, and not the host: why a run
    stopped is also read by people who may not see endpoints."""


@dataclass(frozen=True, slots=True)
class Target:
    """A base URL, read. host: in lower case, as DNS has it, an IPv6 address without brackets. path: without a slash at
    its end; empty for none."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """What a key belongs to."""
        return self.scheme, self.host, self.port

    @property
    def shown_host(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """In its one spelling."""
        return f"{self.scheme}://{self.shown_host}{self.path}"


def read_url(text: object) -> Target:
    """Raises AddressRefused for anything but http(s)://host[:port][/path]. Looks nothing up."""
    if not isinstance(text, str) or not text.strip():
        raise _refused(_("Base URL: required, such as https://api.openai.com/v1."))
    text = text.strip()
    if len(text) > LONGEST_URL:
        raise _refused(_("Base URL: must be at most %(most)d characters.") % {"most": LONGEST_URL})
    if not text.isprintable() or re.search(r"[\s\\<>\"`{}|^]", text):
        raise _refused(_("Base URL: must not contain spaces or invalid characters."))
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _refused(_("Base URL: must look like https://host:port/v1.")) from None
    if parts.scheme not in _PORTS or not text.lower().startswith((f"{parts.scheme}://",)):
        raise _refused(_("Base URL: must begin with http:// or https://."))
    if "@" in parts.netloc:
        raise _refused(_("Base URL: must not contain a user name or password. Enter the key as a key."))
    if "?" in text or "#" in text:
        raise _refused(_("Base URL: must end with the path, without “?” or “#”."))
    if port == 0 or (port is None and parts.netloc.rstrip("]").endswith(":") and not parts.netloc.endswith("]")):
        raise _refused(_("Base URL: the port must be a number from 1 to 65535."))
    path = parts.path.rstrip("/")
    if "//" in path or any(part in (".", "..") for part in path.split("/")) or not path.isascii() or "%" in path:
        raise _refused(_("Base URL: the path must not contain dot segments, percent signs or empty segments."))
    return Target(parts.scheme, _host(parts.hostname or ""), port or _PORTS[parts.scheme], path)


def _host(text: str) -> str:
    """As DNS has it. An address in any but its usual spelling is refused, not interpreted."""
    if ":" in text:
        try:
            return str(IPv6Address(text)) if "%" not in text else _no_host()
        except ValueError:
            return _no_host()
    try:
        host = text.lower() if text.isascii() else idna.encode(text, uts46=True).decode()
    except idna.IDNAError:
        return _no_host()
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return _no_host()
    # 2130706433, 0177.0.0.1, 0x7f.1, 127.1: all of them 127.0.0.1 to some resolver.
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        try:
            return str(IPv4Address(host))
        except ValueError:
            raise _refused(_("Base URL: an IP address must be four numbers, such as 192.0.2.1.")) from None
    return host


def _no_host() -> str:
    raise _refused(_("Base URL: must have a valid host name or IP address."))


def addresses_of(host: str, port: int) -> list[str]:
    """The IP addresses of a host, as they may be connected to, in the order in which to try them.

    Raises AddressRefused when any of them isn't allowed, or the host is unknown (code `unknown_host`).
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused("unknown_host", _("The endpoint’s host was not found.")) from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        _check_address(address, host, port)
    if not addresses:
        raise AddressRefused("unknown_host", _("The endpoint’s host was not found."))
    return addresses


def _check_address(address: str, host: str, port: int) -> None:
    if "%" in address:
        raise _not_allowed()
    for ip in _unwrapped(ipaddress.ip_address(address)):
        if any(ip in network for network in _NEVER if network.version == ip.version):
            raise _not_allowed()
        if any(ip in network for network in _PRIVATE if network.version == ip.version):
            if not is_allowed_private(host, port):
                raise AddressRefused(
                    "private_address",
                    _(
                        "The endpoint’s host is on the local network. The server administrator can allow it in "
                        "JUDGE_PRIVATE_HOSTS."
                    ),
                )
        elif isinstance(ip, IPv6Address) and ip not in _UNICAST and not _is_wrapped(ip):
            raise _not_allowed()


def _unwrapped(ip: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """The address, and the IPv4 address in it that is reached by it."""
    if isinstance(ip, IPv6Address) and _is_wrapped(ip):
        yield IPv4Address(int(ip) & 0xFFFFFFFF)
    else:
        yield ip
    # ISATAP: an interface's number that holds an IPv4 address.
    if isinstance(ip, IPv6Address) and (int(ip) >> 32) & 0xFDFFFFFF == 0x00005EFE:
        yield IPv4Address(int(ip) & 0xFFFFFFFF)


def _is_wrapped(ip: IPv6Address) -> bool:
    return int(ip) > 1 and any(ip in network for network in _WRAPPED)


def is_allowed_private(host: str, port: int) -> bool:
    """Whether JUDGE_PRIVATE_HOSTS has the host, alone or with this port."""
    shown = f"[{host}]" if ":" in host else host
    allowed = {entry.lower() for entry in settings.JUDGE_PRIVATE_HOSTS}
    return shown in allowed or f"{shown}:{port}" in allowed


def _refused(message: str) -> AddressRefused:
    return AddressRefused("bad_base_url", message)


def _not_allowed() -> AddressRefused:
    return AddressRefused("address_not_allowed", _("The endpoint’s host has an address that is not allowed."))
