"""User names and addresses of deleted accounts, of which only keyed digests are kept (decision 67)."""

from __future__ import annotations

from collections.abc import Iterable

from annotate.models import DeletedAccount


def present_names(texts: Iterable[str]) -> dict[str, str]:
    """Those of the texts that were the user name or address of a deleted account -> its pseudonym. One query."""
    digests = {text: _digests(text) for text in texts}
    wanted = [one for some in digests.values() for one in some]
    if not wanted:
        return {}
    found = DeletedAccount.objects.filter(former__overlap=wanted).values_list("former", "user__username")
    called = {one: pseudonym for former, pseudonym in found for one in former}
    return {text: called[one] for text, some in digests.items() for one in some if one in called}


def _digests(text: str) -> list[str]:
    """An address is the same however its letters are."""
    return [DeletedAccount.digest(one) for one in ([text, text.lower()] if "@" in text else [text])]
