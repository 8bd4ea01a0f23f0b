"""An experiment as one HTML file that needs nothing else, and what page and file both say of its rule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.models import Project
from frontend.reports.file import file_css
from frontend.systems.first_screen import candidates_of, first_screen

_CSS = Path(__file__).parent / "static" / "systems" / "experiment.css"


def experiment_html(figures: Mapping[str, Any], project: Project) -> str:
    """Every candidate's screen, one below the other. In the reader's language."""
    context = {
        "project": project,
        "name": figures["experiment"],
        "screens": [first_screen(figures, candidate) for candidate in candidates_of(figures)],
        **rule_context(figures),
        **file_css(_CSS),
    }
    return render_to_string("systems/experiment_file.html", context)


def rule_context(figures: Mapping[str, Any]) -> dict[str, Any]:
    set_at = datetime.fromisoformat(figures["rule_set_at"])
    before = figures["labels_before_rule"]
    asked = figures["set"] or _("all questions that the versions share")
    said = ngettext(
        "rule set on %(date)s, after %(n)s labelled answer",
        "rule set on %(date)s, after %(n)s labelled answers",
        before,
    )
    if not before:
        said = _("rule set on %(date)s, before any answer was labelled")
    declared = said % {"date": date_format(set_at, "DATE_FORMAT"), "n": f"{before:,}"}
    changed = ""
    if figures["rule_number"] > 1:
        changed = (
            _("The rule was changed after figures had been worked out: it is rule %(n)s.")
            if figures["after_figures"]
            else _("The rule was changed before any figures had been worked out: it is rule %(n)s.")
        ) % {"n": figures["rule_number"]}
    return {
        "rule": {
            "asked": asked,
            "set_at": set_at,
            "labels_before": before,
            "level": f"{figures['rule']['level']:.0%}",
            "changed": changed,
            "summary": _("%(set)s, %(n)s questions · %(rule)s")
            % {"set": asked, "n": f"{figures['population']:,}", "rule": declared},
        },
        "headings": {"levels": _("annotators alone, corrected, and judge alone"), "rule": declared},
    }
