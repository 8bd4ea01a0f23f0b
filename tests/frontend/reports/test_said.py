"""The sentences of frozen reports that are translated are those that the alignment module writes, word for word."""

import ast
import re
from typing import get_args

from django.utils import translation

from alignment.base import caveats
from alignment.base import estimate as reasons
from alignment.judging import trust
from judges.reports.said import CONSEQUENCES, REASONS, VERDICTS, more_samples, said, said_plot
from judges.reports.said_patterns import DESCRIPTIONS, SENTENCES, WORDS
from tests.conftest import ROOT


def test_every_fixed_sentence_is_known() -> None:
    written = {value for name, value in vars(reasons).items() if name.isupper()}
    assert set(REASONS) == written
    assert set(VERDICTS) == set(get_args(trust.Verdict))
    assert set(CONSEQUENCES) == {*trust._ALLOWS.values(), *trust._FORBIDS.values()}


def test_says_it_in_the_readers_language_and_the_rest_as_it_is() -> None:
    with translation.override("zh-hans"):
        assert said("no units") == "没有单元"
        assert said("ROC AUC is 0.61 (0.50 to 0.71): not surely above 0.5.").startswith("ROC AUC 为")
        assert said("nobody wrote this") == "nobody wrote this"
        assert said("") == said(None) == ""
        assert more_samples({"more": 1200}) == "约需再标注 1,200 个样本"
    with translation.override("en"):
        assert more_samples({"more": None}) == ""
        assert more_samples({"more": 12}) == "about 12 more samples"


def test_every_pattern_is_of_a_sentence_that_is_written() -> None:
    """Its words stand in the modules that write reports and plots, in the pieces that Python's parser finds."""
    files = [path for folder in ("alignment", "judges", "frontend/reports") for path in (ROOT / folder).rglob("*.py")]
    files += [ROOT / "judges/certificates/drift_read.py", ROOT / "frontend/reports/planning.py"]
    written = "\n".join(
        node.value
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    pieces = {
        piece
        for sentence in (*SENTENCES, *WORDS, *DESCRIPTIONS)
        for piece in re.split(r"%\(\w+\)s|\d+|%%| samples with | on dev| on test|of the (?=\Z)", sentence)
        if len(piece.strip()) > 3
    }
    assert [piece for piece in pieces if piece.strip(" .:±").removesuffix(" is") not in written] == []


def test_sentences_with_figures_and_plots_are_said_in_the_readers_language() -> None:
    svg = (
        '<svg><title id="t">Scores of gpt &amp; co</title>'
        '<desc id="d">checker: ±0.21 now, ±0.07 with 300 more samples. 2 more pairs are in the table only.</desc>'
        '<text x="1">threshold</text><text>chosen on dev: 0.391</text><text>claim-checker</text></svg>'
    )
    with translation.override("zh-hans"):
        assert said("24 samples with 240 labels on dev are few: intervals want 30 samples.").startswith(
            "开发集上 24 个"
        )
        assert said(caveats.FEW_SAMPLES).startswith("少于 40 个样本")
        assert said_plot(svg) == (
            '<svg><title id="t">gpt &amp; co 的分数</title>'
            '<desc id="d">checker：现在 ±0.21，再标注 300 个样本后 ±0.07。 另有 2 对只列在表中。</desc>'
            '<text x="1">阈值</text><text>开发集上选定：0.391</text><text>claim-checker</text></svg>'
        )
    with translation.override("en"):
        assert said_plot(svg) == svg
