"""Every remark that can be written has its words, with exactly its parameters, in every language."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import get_args

import pytest
from django.conf import settings
from django.utils import translation

from alignment.base import caveats
from alignment.base.estimate import Estimate, remark
from alignment.judging.decision import Endpoint, Verdict, decision_on
from frontend.reports.in_words import PLOT_WORDS, decision_in_words, in_words, plot_in_words
from frontend.reports.remark_words import SPELLINGS, WORDS

ROOT = Path(settings.BASE_DIR)
#: Codes that only looks and reports of before have, which still say the same.
STORED = {
    "errors_above_risk", "no_decision_so_far", "no_errors_seen", "plan_of_undefined", "yardstick_without_interval",
}  # fmt: skip
DECISION = {
    "verdict": "cannot_tell", "reason": remark("no_units"), "more": 1200, "hours": 7.6, "for": [], "against": [],
    "part": "test",
}  # fmt: skip
FIGURE = remark("figure", value=0.612, low=0.5, high=0.71)


def written_in(path: Path) -> dict[str, set[tuple[str, ...]]]:
    """Each code that the file writes, with the names of its parameters wherever it does."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "remark":
            (code,) = node.args
            assert isinstance(code, ast.Constant), f"{path}:{node.lineno}: write the code out"
            assert all(given.arg for given in node.keywords), f"{path}:{node.lineno}: name the parameters"
            found.setdefault(code.value, set()).add(tuple(sorted(str(given.arg) for given in node.keywords)))
    return found


def places_of(words: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"%\((\w+)\)s", words)))


def test_every_code_has_words_with_exactly_its_parameters() -> None:
    written: dict[str, set[tuple[str, ...]]] = {}
    for package in ("alignment", "annotate", "judges", "frontend"):
        for path in (ROOT / package).rglob("*.py"):
            for code, parameters in written_in(path).items():
                written.setdefault(code, set()).update(parameters)
    assert WORDS.keys().isdisjoint(PLOT_WORDS)
    worded = {**WORDS, **PLOT_WORDS}
    # Only reports from before there were codes have this one.
    earlier = worded.pop("written")
    assert earlier == "%(text)s"
    places = {code: {tuple(sorted(places_of(words)))} for code, words in worded.items()}
    assert written.keys().isdisjoint(STORED)
    assert {code: found for code, found in places.items() if code not in STORED} == written
    assert all(set(spelling) <= set(*places[code]) for code, spelling in SPELLINGS.items())


def test_every_verdict_has_words() -> None:
    for verdict in get_args(Verdict):
        found = decision_in_words({**DECISION, "verdict": verdict})
        assert found["verdict"]
        assert found["meaning"].endswith(".")
        assert found["chip"]


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        in_words({"code": "made up"})


@pytest.mark.parametrize(
    ("said", "words", "chinese"),
    [
        (None, "", ""),
        (remark("no_units"), "no units", "没有单元"),
        (remark("too_many_values", n=1000), "more than 1,000 different values: too many to take every two", None),
        (
            remark("auc_tells", auc=FIGURE),
            "ROC AUC is 0.61 (0.50 to 0.71): better than chance (0.5).",
            "ROC AUC 为 0.61（0.50 至 0.71）：优于随机（0.5）。",
        ),
        (
            remark("no_region", why=remark("false_passes_above_risk", n=80, found=0.05, high=0.123, risk=0.1)),
            ("no region: of what annotators fail in the first step (80 groups) the judge passes 5.0%; up to 12.3% "
            "may be, more than 10.0%"),
            None,
        ),
        (remark("all_positive_in_part", n=7, part="dev"), "all 7 scored units of the dev set pass",
         "开发集中全部 7 个有分数的单元都通过"),
        (remark("more_samples_for", n=1200, width=0.1), "about 1,200 more samples for ±0.10", None),
        (
            caveats.FEW_SAMPLES,
            ("Fewer than 40 samples: intervals like this one held the true value in as few as 89% of simulated cases, "
            "not 95%."),
            None,
        ),
        (remark("percent_wrong"), "% wrong", None),
        (remark("written", text="50 % of old words"), "50 % of old words", "50 % of old words"),
    ],
)  # fmt: skip
def test_words_and_figures(said: dict[str, object] | None, words: str, chinese: str | None) -> None:
    with translation.override("en"):
        assert in_words(said) == words
    with translation.override("zh-hans"):
        found = in_words(said)
        assert found != words or found == chinese
        assert chinese in (None, found)


@pytest.mark.parametrize(
    ("more", "hours", "words"),
    [
        (1200, 7.6, "needs about 1,200 more drawn samples, about 8 hours"),
        (12, 0.4, "needs about 12 more drawn samples, less than an hour"),
        (1, None, "needs about 1 more drawn sample"),
        (None, None, ""),
    ],
)
def test_a_decision_says_how_many_labels_are_missing(more: int | None, hours: float | None, words: str) -> None:
    with translation.override("en"):
        assert decision_in_words({**DECISION, "more": more, "hours": hours})["missing"] == words
    with translation.override("zh-hans"):
        found = decision_in_words(DECISION)["missing"]
        assert found.startswith("约需再")
        assert "1,200" in found


def test_a_plot_has_the_words_of_its_reader() -> None:
    svg = (
        '<svg><title>\u2063{"code":"scores_of","judge":"gpt &amp; \\"co\\""}\u2063</title>'
        '<desc>a: 0.61 [0.50, 0.71]. \u2063{"code":"more_pairs","n":2}\u2063</desc>'
        '<text>\u2063{"code":"chosen_on_dev","threshold":"0.391"}\u2063</text><text>threshold</text></svg>'
    )
    with translation.override("en"):
        assert plot_in_words(svg) == (
            '<svg><title>Scores of gpt &amp; "co"</title><desc>a: 0.61 [0.50, 0.71]. 2 more pairs are in the table '
            "only.</desc><text>chosen on dev: 0.391</text><text>threshold</text></svg>"
        )
    with translation.override("zh-hans"):
        assert plot_in_words(svg) == (
            '<svg><title>gpt &amp; "co" 的分数</title><desc>a: 0.61 [0.50, 0.71]. 另有 2 对只列在表中。</desc>'
            "<text>开发集上选定：0.391</text><text>threshold</text></svg>"
        )


def test_the_page_of_remarks_has_every_code() -> None:
    lines = (ROOT / "docs" / "remarks.md").read_text(encoding="utf-8").splitlines()
    written = [line for line in lines if line.startswith("| `")]
    expected = [
        f"| `{code}` | {', '.join(f'`{name}`' for name in places_of(words))} | {as_documented(words)} |"
        for code, words in WORDS.items()
        if code != "written"
    ]
    assert written == expected


def as_documented(words: str) -> str:
    places = {name: f"{{{name}}}" for name in places_of(words)}
    return words % places if places else words


def test_why_a_judge_may_not_decide_alone_is_said_in_few_words() -> None:
    known, scored = {"n": 200, "clusters": 200}, Estimate(1.0, 0.98, 1.0, n=200, clusters=200)
    kappa = Estimate(0.7, 0.6, 0.8, **known)
    cases = [
        (Estimate.undefined(remark("no_units")), scored, "test", "agreement unknown"),
        (Estimate(0.7, 0.6, 0.8, n=20, clusters=20), scored, "test", "too few samples"),
        (kappa, Estimate(0.5, 0.4, 0.6, **known), "test", "too few units scored"),
        (Estimate(0.2, 0.1, 0.3, **known), scored, "test", "below the minimum of 0.40"),
        (Estimate(0.4, 0.3, 0.5, **known), scored, "test", "may be below 0.40"),
        (kappa, scored, "test", "no score range certain enough"),
        (kappa, scored, "dev", "test pending"),
    ]
    for figure, coverage, part, said in cases:
        decision = decision_on(Endpoint(), figure, coverage, part=part).as_dict()
        assert decision_in_words(decision)["short"] == said
    alone = decision_on(Endpoint(), kappa, scored, region=Estimate(0.5, 0.4, 0.6, **known)).as_dict()
    assert decision_in_words(alone)["short"] == ""


def test_plots_of_reports_that_were_frozen_before_are_still_read() -> None:
    """A code that a page shows stays, whatever writes it now."""
    mark = "\u2063" + json.dumps({"code": "forest_of_differences"}) + "\u2063"
    assert plot_in_words(f"<title>{mark}</title>") == "<title>Differences in kappa</title>"
