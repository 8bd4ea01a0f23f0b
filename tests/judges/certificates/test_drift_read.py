"""The drift watch: labels that came after a certificate, against the error rate that was certified."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from alignment import watch_drift
from annotate.batches.audits_make import make_audit
from annotate.batches.audits_write import create_schedule
from annotate.batches.draws_read import drawn_samples
from annotate.batches.steps import count_single_labels
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict
from annotate.models import Criterion, Label, Project, Sample, Task, User
from annotate.projects.notices_read import notices
from annotate.projects.write import set_member
from judges.api import certificates_serializers as shapes
from judges.certificates.apply import apply_certificate
from judges.certificates.decision_read import standing_of
from judges.certificates.drift_read import drift_of, drift_sentence
from judges.certificates.gate import gate, gate_markdown
from judges.certificates.watch import look_for_ends
from judges.certificates.write import issue_certificate, look_at_test
from judges.core import scores_read as scores
from judges.models import Certificate, Look
from tests.annotate.factories import finish, make_batch
from tests.judges.building import add_judge, add_labels, add_samples, drawn_in_full, graded_project, scores_like

pytestmark = pytest.mark.django_db


@pytest.fixture
def samples() -> dict[str, Sample]:
    project, samples = graded_project(count=120)
    add_judge(project, "good", samples, scores_like(samples, wrong_every=10), dimension="grade")
    return samples


@pytest.fixture
def project(samples: dict[str, Sample]) -> Project:
    return next(iter(samples.values())).project


@pytest.fixture
def grade(project: Project) -> Criterion:
    return project.criteria.get(key="grade")


@pytest.fixture
def certificate(grade: Criterion) -> Certificate:
    return issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))


def audit(grade: Criterion, wrong: Sequence[bool], *, start: str = "n", scored: bool = True) -> dict[str, Sample]:
    """New answers with one label each, which the certified version passed or failed wrongly or not."""
    names = [f"{start}{place:03}" for place in range(len(wrong))]
    samples = add_samples(grade.project, names)
    if scored:
        add_judge(grade.project, "good", samples, [(name, "answer", 1.0) for name in names], dimension="grade")
    said = [(name, who, 1 if one else 5) for name, one in zip(names, wrong, strict=True) for who in ("ann", "bea")]
    add_labels(grade, samples, [(name, "answer", who, value) for name, who, value in said])
    return samples


def arrive(grade: Criterion, start: str, first: datetime) -> None:
    """The labels on these answers came a day apart."""
    labels = Label.objects.filter(criterion=grade, sample__external_id__startswith=start)
    for place, sample in enumerate(sorted(set(labels.values_list("sample__external_id", "sample")))):
        labels.filter(sample=sample[1]).update(updated_at=first + timedelta(days=place))


def test_before_any_audit(certificate: Certificate) -> None:
    drift = drift_of(certificate)
    bound = certificate.look.result["error"]["high"]
    assert (drift.certified, drift.units, drift.alarm) == (bound, 0, None)
    assert drift_sentence(drift) == f"No audits to go by yet, so no drift can show (certified was at most {bound:.3f})."


def test_the_certified_rate_is_the_upper_bound_on_test(certificate: Certificate) -> None:
    """Each sample has one unit here, and all were drawn."""
    cells = certificate.look.samples["test"].values()
    error = certificate.look.result["error"]
    assert error["value"] == pytest.approx(sum(fp + fn for _, fp, fn, _ in cells) / len(cells))
    assert drift_of(certificate).certified == error["high"] > error["value"]


def test_audits_that_agree_raise_no_alarm(grade: Criterion, certificate: Certificate) -> None:
    audit(grade, [False] * 18 + [True] * 2)
    drift = drift_of(certificate)
    assert (drift.units, drift.samples, drift.alarm) == (20, 20, None)
    assert drift.error is not None
    assert drift.error["value"] == pytest.approx(0.1)
    assert drift_sentence(drift).startswith("No drift shown so far: 20 audited units of 20 samples, error rate 0.100 (")
    assert gate(project=grade.project, criterion_key="grade", judge_name="good", min_kappa=0).passed


def test_labels_of_a_scheduled_audit_are_audits(grade: Criterion, certificate: Certificate) -> None:
    """Drawn among new samples: none of them chosen by its score, and none in the guarantee of a later look."""
    project = grade.project
    people = [User.objects.create_user(name) for name in ("ana", "ben")]
    for person in people:
        set_member(project=project, user=person, role="annotator")
    before = set(drawn_samples(grade).chances)
    names = [f"n{place:03}" for place in range(12)]
    samples = add_samples(project, names)
    add_judge(project, "good", samples, [(name, "answer", 1.0) for name in names], dimension="grade")
    schedule = create_schedule(
        project=project, actor=None, today=timezone.localdate(), name="Audits", criteria=[grade], annotators=people,
        samples=5,
    )  # fmt: skip
    made = make_audit(schedule.pk, today=schedule.next_on)
    assert made is not None
    assert (made.drawn, made.eligible) == (5, 12)
    for task in Task.objects.filter(batch=made.batch):
        finish(task, grade=5)
    # Tasks bear the time at which their transaction began, and all of a test is one.
    Task.objects.filter(submitted_at__isnull=False).update(submitted_at=timezone.now())
    drift = drift_of(certificate)
    assert (drift.audits, drift.scored, drift.samples, drift.chosen) == (5, 5, 5, 0)
    assert set(drawn_samples(grade).chances) == before


def test_an_alarm_is_dated_and_fails_the_gate(grade: Criterion, certificate: Certificate) -> None:
    said = [place % 5 in (1, 3) for place in range(80)]
    audit(grade, said)
    first = certificate.created_at + timedelta(days=1)
    arrive(grade, "n", first)
    drift = drift_of(certificate)
    assert drift.certified is not None
    alone = watch_drift(said, range(80), range(80), drift.certified)
    assert alone.alarm is not None
    assert drift.alarm == first + timedelta(days=alone.alarm)
    assert drift.error is not None
    assert (drift.error["low"], drift.error["high"]) == pytest.approx((alone.error.low, alone.error.high))

    found = gate(project=grade.project, criterion_key="grade", judge_name="good", min_kappa=-1)
    assert found.code == "drift"
    day = f"{drift.alarm:%-d %b %Y}"
    assert found.sentence.startswith(f"Certificate 1 no longer holds. What was audited up to {day} shows")
    assert shapes.Gate.show(shapes.of_gate(found, reader=SYSTEM))["drift"]["alarm"] == drift.alarm.isoformat()
    assert gate_markdown(found).count("errs more often") == 1
    with pytest.raises(Conflict) as refusal:
        apply_certificate(project=grade.project, criterion_key="grade", judge_name="good", rows=[{"score": 0.5}])
    assert refusal.value.code == "drift"


def test_errors_in_a_row_or_at_once_are_no_alarm_and_fail_the_gate(grade: Criterion, certificate: Certificate) -> None:
    audit(grade, [True] * 30)
    drift = drift_of(certificate)
    assert (drift.alarm, drift.streaks) == (None, True)
    found = gate(project=grade.project, criterion_key="grade", judge_name="good", min_kappa=-1)
    assert (found.code, found.passed) == ("drift_or_streak", False)
    assert found.sentence.startswith(
        "It can’t be determined whether certificate 1 is still valid. The errors came in a row "
        "or all at once, so a rise cannot be told from a streak yet: 30 audited units of 30 samples, error "
        "rate 1.000 ("
    )
    assert shapes.Gate.show(shapes.of_gate(found, reader=SYSTEM))["drift"]["streaks"] is True
    assert gate_markdown(found).count("in a row") == 1
    with pytest.raises(Conflict) as refusal:
        apply_certificate(project=grade.project, criterion_key="grade", judge_name="good", rows=[{"score": 0.5}])
    assert refusal.value.code == "drift_or_streak"


def test_audits_that_the_judge_fails_to_score_are_wrong(grade: Criterion, certificate: Certificate) -> None:
    """Else a judge that refuses what is hard keeps its certificate."""
    extra = audit(grade, [False] * 80, scored=False)
    said = [(name, "answer", None if place % 5 in (1, 3) else 1.0) for place, name in enumerate(sorted(extra)[:80])]
    add_judge(grade.project, "good", extra, said, dimension="grade")
    arrive(grade, "n", certificate.created_at + timedelta(days=1))
    drift = drift_of(certificate)
    assert (drift.audits, drift.scored, drift.failed, drift.units) == (80, 48, 32, 80)
    assert gate(project=grade.project, criterion_key="grade", judge_name="good").code == "drift"
    assert "32 audited units without a score count as wrong." in drift_sentence(drift)
    assert shapes.Drift.show(drift)["failed"] == 32


def test_audits_that_the_judge_was_not_asked_about_leave_it_open(grade: Criterion, certificate: Certificate) -> None:
    """Too few of them are scored to know, once there are thirty; running the judge mends it."""
    extra = audit(grade, [False] * 29, scored=False)
    assert gate(project=grade.project, criterion_key="grade", judge_name="good").passed
    extra |= audit(grade, [False], start="o", scored=False)
    found = gate(project=grade.project, criterion_key="grade", judge_name="good")
    assert (found.code, found.sentence) == (
        "audits_unscored",
        (
            "It can’t be determined whether certificate 1 is still valid. The judge scored 0 of 30 "
            "units audited since; at least 90% is needed. Run it on the rest."
        ),
    )
    names = [name for name in extra if name[0] in "no"]
    add_judge(grade.project, "good", extra, [(name, "answer", 1.0) for name in names[:27]], dimension="grade")
    assert gate(project=grade.project, criterion_key="grade", judge_name="good").passed


def test_a_new_certificate_is_watched_from_the_start(grade: Criterion, certificate: Certificate) -> None:
    audit(grade, [True] * 40)
    assert drift_of(certificate).streaks
    # They came after an admin said how labels came.
    drawn_in_full(grade)
    anew = issue_certificate(look=look_at_test(criterion=grade, judge_name="good"))
    # It knows of those errors; labels on what it rests on are no audit.
    assert anew.look.result["error"]["value"] > certificate.look.result["error"]["value"]
    assert drift_of(anew).units == 0
    assert standing_of(project=grade.project, criterion_key="grade", judge_name="good").ended is None


def test_what_does_not_count(grade: Criterion, samples: dict[str, Sample], certificate: Certificate) -> None:
    # Given anew on what the certificate rests on.
    Label.objects.filter(criterion=grade, sample=samples["s00"]).update(updated_at=timezone.now(), value=5)
    # Given before.
    audit(grade, [True] * 5, start="old")
    Label.objects.filter(sample__external_id__startswith="old").update(
        updated_at=certificate.created_at - timedelta(seconds=1)
    )
    # Not scored, or by another version.
    extra = audit(grade, [True] * 5, start="bare", scored=False)
    assert drift_of(certificate).units == 0
    names = [(name, "answer", 1.0) for name in extra if name.startswith("bare")]
    add_judge(grade.project, "good", extra, names, dimension="grade", label="2")
    drift = drift_of(certificate)
    assert (drift.units, drift.audits, drift.scored) == (0, 5, 0)
    assert drift_sentence(drift).endswith("5 audited units are excluded: the judge has not processed them.")
    # People who cancel each other out.
    tied = audit(grade, [True], start="tie")
    add_labels(grade, tied, [("tie000", "answer", who, 5) for who in ("ben", "cy")])
    # The word of one person that no one looked at.
    add_labels(grade, add_samples(grade.project, ["one"]), [("one", "answer", "ann", 1)])
    assert drift_of(certificate).units == 0
    audit(grade, [False], start="new")
    assert drift_of(certificate).units == 1


def test_what_people_differ_on_keeps_the_place_of_its_first_label(grade: Criterion, certificate: Certificate) -> None:
    """Else what is settled last, where judges err most, would look like a rise."""
    extra = audit(grade, [True, False, True, False])
    first = certificate.created_at + timedelta(days=1)
    arrive(grade, "n", first)
    add_labels(grade, extra, [("n000", "answer", who, 5) for who in ("ben", "cy")])
    assert drift_of(certificate).units == 3
    add_labels(grade, extra, [("n000", "answer", "dee", 1)])
    cache.clear()
    settled = drift_of(certificate)
    assert settled.units == 4
    # Of what was labelled before, only what was disputed then is settled after.
    Label.objects.filter(sample=extra["n000"], rater__name="ann").update(updated_at=certificate.created_at)
    cache.clear()
    assert drift_of(certificate).units == 3


def test_a_sample_counts_once(grade: Criterion, certificate: Certificate) -> None:
    """By its labels that came first; two labels on one unit are one word of people's."""
    extra = audit(grade, [True, False])
    add_labels(grade, extra, [("n000", "answer", "ben", 1), ("n001", "answer", "ben", 4)])
    drift = drift_of(certificate)
    assert (drift.units, drift.samples) == (2, 2)
    assert drift.error is not None
    assert drift.error["value"] == 0.5


def test_too_many_samples_to_be_named(
    grade: Criterion, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit(grade, [True, False] * 5)
    named = drift_of(certificate)
    monkeypatch.setattr(scores, "MOST_NAMED", 3)
    cache.clear()
    assert drift_of(certificate) == named
    assert named.units == 10


def test_what_was_chosen_one_by_one_is_left_out(grade: Criterion, certificate: Certificate) -> None:
    names = ["drawn", "picked"]
    extra = add_samples(grade.project, names)
    add_judge(grade.project, "good", extra, [(name, "answer", 1.0) for name in names], dimension="grade")
    person = User.objects.create_user("eve")
    set_member(project=grade.project, user=person, role="annotator")
    keys = {extra[name].pk: name for name in names}
    for selection in ({"method": "random", "n": len(extra), "seed": 1}, {"method": "list", "samples": ["picked"]}):
        batch = count_single_labels(batch=make_batch(grade.project, [person], criteria=[grade], selection=selection))
        wanted = "drawn" if selection["method"] == "random" else "picked"
        for task in Task.objects.filter(batch=batch):
            if keys.get(task.sample_id) == wanted:
                finish(task, grade=1)
    # Tasks bear the time at which their transaction began, and all of a test is one.
    Task.objects.filter(submitted_at__isnull=False).update(submitted_at=timezone.now())
    drift = drift_of(certificate)
    assert (drift.units, drift.chosen) == (1, 1)
    assert shapes.Drift.show(drift)["chosen_by_score"] == 1


def test_a_judge_that_answers_with_labels(project: Project, grade: Criterion, samples: dict[str, Sample]) -> None:
    said = [(name, unit, str(1 + round(4 * score))) for name, unit, score in scores_like(samples, wrong_every=10)]
    add_judge(project, "grader", samples, said, dimension="grade")
    certified = issue_certificate(look=look_at_test(criterion=grade, judge_name="grader"))
    extra = audit(grade, [True] * 30, scored=False)
    rows: list[tuple[str, str, Any]] = [(name, "answer", "5") for name in extra if name.startswith("n")]
    add_judge(project, "grader", extra, rows, dimension="grade")
    drift = drift_of(certified)
    assert (drift.units, drift.alarm, drift.streaks) == (30, None, True)


def test_what_can_not_be_watched(certificate: Certificate) -> None:
    look = certificate.look
    result = {**look.result, "error": {**look.result["error"], "high": None}}
    Look.objects.filter(pk=look.pk).update(result=result)
    fresh = Certificate.objects.get(pk=certificate.pk)
    assert drift_sentence(drift_of(fresh)) == (
        "Drift is not monitored: the certified error rate has no upper bound below 1."
    )


def test_drift_is_told_to_admins(grade: Criterion, certificate: Certificate) -> None:
    admin = User.objects.create_user("alma")
    set_member(project=grade.project, user=admin, role="admin")
    audit(grade, [place % 5 in (1, 3) for place in range(80)])
    arrive(grade, "n", certificate.created_at + timedelta(days=1))
    look_for_ends()
    assert [(one.kind, one.name, one.key) for one in notices(admin)] == [("drifted", "good", "grade")]
