"""What a judge gets wrong: planted causes come out by people's reasons, by texts in any language, and by command."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid
from annotate.models import Label, Sample
from judges.models import GroupSide, Side
from judges.reports.mistakes import mistakes
from tests.judges.building import add_judge, add_labels, add_samples, make_project

pytestmark = pytest.mark.django_db
CHOICE = {
    "key": "ok",
    "unit": "answer",
    "scale": "binary",
    "prompt": "OK?",
    "options": [{"value": "no"}, {"value": "yes"}],
    "pass": ["yes"],
}


def world(count: int = 120, *, wrong_every: int = 4, reason: str = "The date is wrong", text: str = ""):
    """Half of the samples fail; of those the judge passes some, of which people write the reason, or whose answer has
    the text; of the others they write something else. Two of three samples are dev."""
    project = make_project(criteria=[CHOICE])
    criterion = project.criteria.get()
    names = [f"s{at:03}" for at in range(count)]
    samples = add_samples(project, names, claims=[])
    fails = {name for at, name in enumerate(names) if at % 2}
    missed = {name for at, name in enumerate(sorted(fails)) if at % wrong_every == 0}
    people = {name: "no" if name in fails else "yes" for name in names}
    add_labels(criterion, samples, [(n, "answer", who, v) for n, v in people.items() for who in ("ann", "bob")])
    for at, label in enumerate(Label.objects.filter(rater__name="ann").order_by("pk")):
        name = label.sample.external_id
        label.comment = (reason if name in missed else f"Invented fact {at}") if name in fails else ""
        label.save()
    if text:
        for at, sample in enumerate(Sample.objects.order_by("pk")):
            sample.answer = f"{text} {at}" if sample.external_id in missed else f"别的内容 {at}"
            sample.save()
    test = set(names[::3])
    GroupSide.objects.bulk_create(
        GroupSide(project=project, criterion_key="ok", group=n, side=Side.TEST if n in test else Side.DEV)
        for n in names
    )
    said = [(n, "answer", "yes" if n in missed else people[n]) for n in names]
    add_judge(project, "j", samples, said, dimension="ok", rationale="fine")
    return project, criterion, missed - test


def test_the_cause_is_named_and_nothing_of_test_is_told():
    _, criterion, missed = world()
    found = mistakes(criterion, "j", reader=SYSTEM)
    assert (found["units"], found["wrong"], found["reason"]) == (80, len(missed), None)
    way = found["directions"][0]
    assert (way["people"], way["judge"], len(found["directions"])) == (False, True, 1)
    (group,) = way["groups"]
    assert group["by"] == "reasons"
    assert "date" in " ".join(group["terms"])
    assert (group["units"], group["several"], group["split"], group["alone"]) == (len(missed), len(missed), 0, 0)
    assert (group["advice"], group["kappa_without"]["value"]) == ("teach_judge", 1.0)
    assert sorted(one["sample"] for one in group["listed"]) == sorted(missed)
    assert mistakes(criterion, "j", reader=SYSTEM) == found


def test_without_reasons_units_come_together_by_their_text():
    _, criterion, missed = world(reason="", text="日期错误")
    (group,) = mistakes(criterion, "j", reader=SYSTEM)["directions"][0]["groups"]
    assert (group["by"], group["terms"], group["units"]) == ("texts", ["日期错误"], len(missed))


def test_few_mistakes_are_a_list():
    _, criterion, missed = world(wrong_every=12)
    way = mistakes(criterion, "j", reader=SYSTEM)["directions"][0]
    assert not way["groups"]
    assert sorted(one["sample"] for one in way["rest"]["listed"]) == sorted(missed)


def test_a_judge_without_mistakes_or_scores():
    project, criterion, _ = world(wrong_every=1000)
    add_judge(project, "mute", {}, [])
    with pytest.raises(Invalid):
        mistakes(criterion, "mute", reader=SYSTEM)
    with pytest.raises(Invalid):
        mistakes(criterion, "nobody", reader=SYSTEM)


def test_the_command_says_what_to_do():
    world()
    said = StringIO()
    call_command("judge_mistakes", "p", "--criterion", "ok", "--judge", "j", stdout=said)
    text = said.getvalue()
    assert "People: fail, judge: pass" in text
    assert "teach the judge" in text
    assert "date" in text
