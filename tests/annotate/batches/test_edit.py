"""A draft is edited by the checks that it was created with; a batch that was opened is not."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from annotate.batches.edit import edit_batch, settings_of
from annotate.batches.steps import open_batch
from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry, Batch, Qualification
from tests.annotate.factories import World, make_sample, make_samples
from tests.clients import client_of


@pytest.fixture
def draft(world: World) -> Batch:
    make_samples(world.project, 6)
    return world.batch(opened=False, due_date=None)


def names(batch: Batch) -> list[str]:
    return list(batch.batch_samples.order_by("position").values_list("sample__external_id", flat=True))


def chances(batch: Batch) -> set[float | None]:
    return set(batch.batch_samples.values_list("probability", flat=True))


def test_every_setting(world: World, draft: Batch) -> None:
    due = date(2999, 1, 31)
    newcomers = Qualification.objects.create(
        project=world.project, name="New", kappa=0.6, test_samples=5, tries=1, seed=1
    )
    given: dict[str, Any] = {
        "name": "Other", "due_date": due, "overlap": 3, "overlap_share": 0.5, "strategy": "pull", "lease_minutes": 5,
        "tag_key": "", "gold_share": 0.1, "repeat_share": 0.2, "gold_feedback": True, "consensus": "threshold",
        "settle_share": 0.7, "settle_votes": 2, "criteria": world.criteria("grade"), "single_labels": True,
        "annotators": [world.ben, world.ann, world.chen], "proposals": {}, "withheld_share": 0.3,
        "requires": newcomers,
    }  # fmt: skip
    edit_batch(actor=world.alice, batch=draft, **given)
    stands = settings_of(Batch.objects.get(pk=draft.pk))
    assert stands == {**given, "annotators": [world.ann, world.ben, world.chen]}
    assert sorted(draft.batch_samples.values_list("overlap", flat=True)) == [1, 1, 1, 3, 3, 3]
    entry = AuditEntry.objects.get(action="batch.edited")
    assert (entry.actor, entry.details["number"]) == (world.alice, draft.number)
    assert "single_labels" in entry.details["fields"]
    # The rest stays; and what is as it was is no edit.
    edit_batch(actor=world.alice, batch=draft, name="Third")
    assert settings_of(Batch.objects.get(pk=draft.pk)) == {**stands, "name": "Third"}
    edit_batch(actor=world.alice, batch=draft, name="Third", **{name: stands[name] for name in ("overlap", "due_date")})
    assert AuditEntry.objects.filter(action="batch.edited").count() == 2


def test_another_rule_leaves_share_and_votes_behind(world: World, draft: Batch) -> None:
    edit_batch(actor=world.alice, batch=draft, consensus="threshold", settle_share=0.7, settle_votes=2)
    edit_batch(actor=world.alice, batch=draft, settle_share=0.8)
    draft.refresh_from_db()
    assert (draft.settle_share, draft.settle_votes) == (0.8, 2)
    edit_batch(actor=world.alice, batch=draft, consensus="unanimous")
    draft.refresh_from_db()
    assert (draft.consensus, draft.settle_share, draft.settle_votes) == ("unanimous", None, None)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": " "}, "bad_name"),
        ({"due_date": date(2020, 1, 1)}, "past_due_date"),
        ({"overlap": 0}, "bad_overlap"),
        ({"overlap": True}, "bad_overlap"),
        ({"overlap": 4}, "too_few_annotators"),
        ({"annotators": []}, "too_few_annotators"),
        ({"criteria": []}, "no_criteria"),
        ({"overlap_share": 2}, "bad_share"),
        ({"strategy": "fair"}, "bad_strategy"),
        ({"lease_minutes": 0}, "bad_lease"),
        ({"tag_key": "tier"}, "no_tagged_sample"),
        ({"consensus": "threshold"}, "bad_settle_share"),
        ({"settle_votes": 2}, "threshold_of_other_rule"),
        ({"single_labels": 1}, "bad_flag"),
        ({"selection": {"method": "filter", "filter": {"tier": "none"}}}, "no_samples"),
        ({"selection": {"method": "random", "n": 99}}, "bad_n"),
        ({"add": ["never"]}, "unknown_sample"),
        ({"remove": ["never"]}, "unknown_sample"),
        ({"remove": [f"s{n}" for n in range(1, 7)]}, "no_samples"),
    ],
)
def test_the_checks_of_a_new_batch(world: World, draft: Batch, changes: dict[str, Any], code: str) -> None:
    before = (settings_of(draft), names(draft))
    with pytest.raises(Invalid) as refused:
        edit_batch(actor=world.alice, batch=draft, **changes)
    assert refused.value.code == code
    assert (settings_of(Batch.objects.get(pk=draft.pk)), names(draft)) == before
    assert not AuditEntry.objects.filter(action="batch.edited").exists()


def test_people_and_criteria_of_elsewhere(world: World, draft: Batch) -> None:
    for changes in ({"annotators": [world.ann, world.dora]}, {"criteria": list(world.other.criteria.all())}):
        with pytest.raises(Invalid):
            edit_batch(actor=world.alice, batch=draft, **changes)


def test_a_due_date_that_passed_meanwhile_may_stay(world: World, draft: Batch) -> None:
    passed = date.today() - timedelta(days=2)  # noqa: DTZ011 - long enough ago in every zone
    Batch.objects.filter(pk=draft.pk).update(due_date=passed)
    edit_batch(actor=world.alice, batch=draft, name="Late", due_date=passed)
    draft.refresh_from_db()
    assert (draft.name, draft.due_date) == ("Late", passed)


def test_another_choice_of_samples(world: World, draft: Batch) -> None:
    assert chances(draft) == {1.0}
    edit_batch(actor=world.alice, batch=draft, selection={"method": "random", "n": 3, "seed": 5})
    draft.refresh_from_db()
    assert (len(names(draft)), draft.selection["seed"], chances(draft)) == (3, 5, {0.5})
    edit_batch(actor=world.alice, batch=draft, selection={"method": "list", "samples": ["s2", "s1"]})
    draft.refresh_from_db()
    assert (names(draft), draft.selection["came"], chances(draft)) == (["s1", "s2"], "by_hand", {None})


def test_what_is_removed_by_hand_leaves_no_draw(world: World, draft: Batch) -> None:
    edit_batch(actor=world.alice, batch=draft, remove=["s2"])
    draft.refresh_from_db()
    assert names(draft) == ["s1", "s3", "s4", "s5", "s6"]
    assert (draft.selection, chances(draft)) == ({"method": "list", "n": 5, "came": "by_hand"}, {None})
    with pytest.raises(Invalid, match="no sample"):
        edit_batch(actor=world.alice, batch=draft, remove=["s2"])


def test_what_is_added_by_hand_stands_for_itself(world: World, draft: Batch) -> None:
    make_sample(world.project, 7)
    edit_batch(actor=world.alice, batch=draft, add=["s7", "s1"])
    draft.refresh_from_db()
    assert names(draft) == [f"s{n}" for n in range(1, 8)]
    assert dict(draft.batch_samples.values_list("sample__external_id", "probability"))["s7"] is None
    assert chances(draft) == {1.0, None}
    assert (draft.selection["method"], draft.selection["extensions"][0]["n"]) == ("all", 1)
    # Settings leave the samples, and their chances, as they are.
    before = list(draft.batch_samples.values_list("sample", "probability", "position"))
    edit_batch(actor=world.alice, batch=draft, overlap=3)
    assert list(draft.batch_samples.values_list("sample", "probability", "position")) == before
    assert set(draft.batch_samples.values_list("overlap", flat=True)) == {3}


def test_an_edited_draft_opens(world: World, draft: Batch) -> None:
    edit_batch(actor=world.alice, batch=draft, overlap=1, annotators=[world.chen], remove=["s1"])
    assert open_batch(batch=draft).tasks.count() == 5


def test_once_it_is_open_it_is_refused(world: World, draft: Batch) -> None:
    open_batch(batch=draft)
    with pytest.raises(Conflict, match="no longer a draft"):
        edit_batch(actor=world.alice, batch=draft, name="Late")
    draft.refresh_from_db()
    assert draft.name != "Late"


def test_over_the_api(world: World, draft: Batch) -> None:
    url = f"/api/projects/desk/batches/{draft.number}/"
    changes = {"name": "Other", "criteria": ["grade"], "annotators": ["ann", "ben"], "due_date": "2999-01-31"}
    reply = client_of(world.alice).patch(url, {**changes, "remove": ["s1"]})
    assert reply.status_code == 200, reply.content
    shown = reply.json()
    assert {name: shown[name] for name in changes} == changes
    assert shown["samples"] == 5
    assert client_of(world.alice).get(url).json()["samples"] == 5
    assert client_of(world.rita).patch(url, {"name": "X"}).status_code == 403
    refused = client_of(world.alice).patch(url, {"overlap": 9})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "too_few_annotators")
    open_batch(batch=draft)
    refused = client_of(world.alice).patch(url, {"name": "X"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_a_draft")
