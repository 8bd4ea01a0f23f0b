"""Prompts with variables: {{claim}} stands for the claim, and for nothing else.

What stands between double braces is one of the names that there are, to the letter: no attribute, no expression, no
code. Single braces are text like any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from judges.kinds.base import Refused

_BETWEEN = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt: text as it stands, or the name of a variable."""

    text: str
    is_variable: bool = False


def parts_of(prompt: str, known: Collection[str], field: str = "prompt") -> list[Part]:
    """Raises Refused, naming those that there are, for a variable that isn't one of `known`."""
    names = ", ".join(f"{{{{{name}}}}}" for name in known)
    parts: list[Part] = []
    at = 0
    for match in _BETWEEN.finditer(prompt):
        name = match[1].strip()
        if name not in known:
            raise Refused(
                field,
                _("“%(shown)s” is no variable. Those that there are here: %(names)s.")
                % {"shown": match[0][:_SHOWN_CHARACTERS], "names": names},
            )
        parts += [Part(prompt[at : match.start()]), Part(name, is_variable=True)]
        at = match.end()
    rest = prompt[at:]
    if "{{" in rest:
        raise Refused(
            field, _("A variable is opened by {{ and never closed. Variables here: %(names)s.") % {"names": names}
        )
    parts.append(Part(rest))
    return [part for part in parts if part.text]


def names_in(parts: Sequence[Part]) -> list[str]:
    """The variables of a prompt, each once, in the order in which they come."""
    return list(dict.fromkeys(part.text for part in parts if part.is_variable))


def names_between(prompt: str) -> list[str]:
    """Those of a prompt that was taken."""
    return list(dict.fromkeys(match[1].strip() for match in _BETWEEN.finditer(prompt)))


def filled(parts: Sequence[Part], values: Mapping[str, str]) -> list[Part]:
    """With these variables as text, and text beside text as one part."""
    done: list[Part] = []
    for part in parts:
        now = Part(values[part.text]) if part.is_variable and part.text in values else part
        if done and not now.is_variable and not done[-1].is_variable:
            done[-1] = Part(done[-1].text + now.text)
        else:
            done.append(now)
    return done
