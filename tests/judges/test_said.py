"""The sentences of frozen reports that are translated are those that the alignment module writes, word for word."""

from typing import get_args

from django.utils import translation

from alignment import reasons, trust
from judges.selectors.said import CONSEQUENCES, REASONS, VERDICTS, headline, said


def test_every_fixed_sentence_is_known() -> None:
    written = {value for name, value in vars(reasons).items() if name.isupper()}
    assert set(REASONS) == written
    assert set(VERDICTS) == set(get_args(trust.Verdict))
    assert set(CONSEQUENCES) == {*trust._ALLOWS.values(), *trust._FORBIDS.values()}


def test_says_it_in_the_readers_language_and_the_rest_as_it_is() -> None:
    with translation.override("zh-hans"):
        assert said("no units") == "没有单元"
        assert said("ROC AUC is 0.61 (0.50 to 0.71): not surely above 0.5.").startswith("ROC AUC is")
        assert said("") == said(None) == ""
        assert headline({"verdict": "not enough labels", "more": 1200}) == "标注不足（约需再标注 1,200 个样本）"
    with translation.override("en"):
        assert headline({"verdict": "no signal", "more": None}) == "no signal"
        assert headline({"verdict": "not enough labels", "more": 12}) == "not enough labels (about 12 more samples)"
