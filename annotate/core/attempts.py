"""How often a password, a code, a token or an invitation may be guessed (docs/decisions/0020-guessing.md).

Each limit is a bucket in PostgreSQL that leaks: so many wrong tries at once, and one more whenever a share has run out.
So a full bucket slows its owner down and locks nothing. A try is counted before it is looked at, and taken back when it
was right: of a hundred at once no more pass than of a hundred in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address
from math import ceil

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotate.core.errors import Refusal
from annotate.core.rows import execute, fetch_one


@dataclass(frozen=True)
class Limit:
    """So many wrong tries at once, and one more after each of these seconds."""

    at_once: int
    seconds: int


# A browser in which the account was logged in before has a limit of its own, and meets none of the others.
KNOWN_BROWSER = Limit(10, 60)
# All others: one address at one account; one address at all accounts; one account from all addresses. The last one
# leaks faster than one address can fill it, so that a stranger can't keep the owner out from another address.
ADDRESS_AND_ACCOUNT = Limit(10, 60)
ADDRESS = Limit(20, 30)
ACCOUNT = Limit(50, 20)
# The old password, asked of a user who is logged in.
CONFIRMED = Limit(10, 60)
# A code of the second factor, after the right password. Three of a million are right: who guesses all year finds one
# with a chance of one in ten. Browsers in which the account was logged in before have a limit of their own, as above.
SECOND_FACTOR = Limit(10, 900)
# Tokens and links of invitations: random, so a right one is no guess and always passes. Names that are taken, too.
SECRETS = Limit(30, 10)

# Rows of buckets that have run out are removed, so many at a time.
_REMOVED = 50


class TooManyAttempts(Refusal):
    """Too many wrong tries; `details` says after how many seconds the next one is looked at."""

    status = 429

    def __init__(self, seconds: int) -> None:
        message = _("Too many failed attempts. Try again in %(seconds)d seconds.") % {"seconds": seconds}
        super().__init__("too_many_attempts", message, retry_after=seconds)

    @property
    def retry_after(self) -> int:
        return int(self.details["retry_after"])


def count(limits: Mapping[str, Limit], now: datetime | None = None) -> None:
    """Counts one try against each of these, by who tries what; against none when one of them is full.

    Raises TooManyAttempts.
    """
    now = now or timezone.now()
    with transaction.atomic():
        # In one order, so that no two wait for each other.
        for name in sorted(limits):
            limit = limits[name]
            share = timedelta(seconds=limit.seconds)
            full = limit.at_once * share
            (left,) = fetch_one(_COUNT, {"key": _key(name), "share": share, "full": full, "now": now})
            over = left - full
            if over > timedelta():
                raise TooManyAttempts(ceil(over.total_seconds()))
    execute(_REMOVE, {"now": now, "most": _REMOVED})


def take_back(limits: Mapping[str, Limit]) -> None:
    """The try was right."""
    for name in sorted(limits):
        execute(_TAKE_BACK, {"key": _key(name), "share": timedelta(seconds=limits[name].seconds)})


# No bucket is more than full: one that would be twice is of before the clock was put back, and keeps nobody out.
_COUNT = """
INSERT INTO annotate_attempts AS kept (key, until) VALUES (%(key)s, %(now)s::timestamptz + %(share)s)
ON CONFLICT (key) DO UPDATE SET until = %(share)s
    + CASE WHEN kept.until < %(now)s::timestamptz + 2 * %(full)s THEN greatest(kept.until, %(now)s::timestamptz)
           ELSE %(now)s::timestamptz END
RETURNING until - %(now)s::timestamptz
"""
_TAKE_BACK = "UPDATE annotate_attempts SET until = until - %(share)s WHERE key = %(key)s"
_REMOVE = """
DELETE FROM annotate_attempts WHERE key IN (
    SELECT key FROM annotate_attempts WHERE until < %(now)s ORDER BY until LIMIT %(most)s FOR UPDATE SKIP LOCKED
)
"""


def _key(name: str) -> str:
    return salted_hmac("annotate.attempts", name, algorithm="sha256").hexdigest()


def count_wrong_secret(request: HttpRequest, *, is_wrong: bool = True) -> None:
    """A token or an invitation that there is not, or the name of an account that there is. Raises TooManyAttempts, also
    for what is not wrong, so that it doesn't tell which."""
    if address := address_of(request):
        limits = {f"secret of {address}": SECRETS}
        count(limits)
        if not is_wrong:
            take_back(limits)


def address_of(request: HttpRequest) -> str:
    """Where the request comes from: the peer, or what the last of PROXY_COUNT proxies says of theirs. "": not known (a
    unix socket).

    Of IPv6 the network, which is what one subscriber gets.
    """
    peer = request.META.get("REMOTE_ADDR", "")
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    proxies = settings.PROXY_COUNT
    # With fewer entries than proxies it came past one of them, and may say what it likes.
    for text in ([hops[-proxies]] if 0 < proxies <= len(hops) else []) + [peer]:
        try:
            address = ip_address(text)
        except ValueError:
            continue
        if isinstance(address, IPv6Address):
            return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
        return str(address)
    return ""
