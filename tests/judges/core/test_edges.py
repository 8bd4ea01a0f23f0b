"""What has no figure says why, and what is missing is counted: the corners of holding judges against people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from alignment.base.estimate import remark
from alignment.report.reference import METHOD
from annotate.core.blindness import SYSTEM
from annotate.core.text_tables import in_words
from annotate.models import Criterion, Project, Sample, User, Verdict
from annotate.verdicts.evidence_read import agreement
from frontend.reports.file import report_html
from frontend.reports.text_table import judge_table
from judges.models import LARGEST_SCORE, GroupSide, Side
from judges.reports.evidence import align
from judges.reports.write import build_report
from tests.annotate.factories import TRISTATE
from tests.judges.building import (
    GRADES,
    add_judge,
    add_labels,
    add_samples,
    graded_project,
    make_project,
    one_label_settles,
    scores_like,
    stored_sides,
)

pytestmark = pytest.mark.django_db

Aligned = tuple[dict[str, Any], dict[str, Any]]


def grade_of(project: Project) -> Criterion:
    return project.criteria.get(key="grade")


def against(criterion: Criterion, judge: str = "judge", *, shown: bool = True) -> Aligned:
    """The reference and the judge's row. Every form in which they are shown can show them."""
    found = align(criterion, judge)
    json.dumps(found, allow_nan=False)
    if not shown:
        return found["reference"], found["judges"][0]
    assert judge in judge_table(found)
    assert judge in judge_table(found, markdown=True)
    assert judge in report_html(build_report(criterion=criterion, judge_name=judge))
    (row,) = found["judges"]
    return found["reference"], row


def reasons(row: Mapping[str, Any], *names: str) -> set[str]:
    """Why these figures of the row have no value; fails for one that has."""
    at = row["at_threshold"]
    estimates = [row[name] if name in row else at[name] for name in names]
    assert all(estimate["value"] is None and estimate["low"] is None for estimate in estimates)
    return {in_words(estimate["reason"]) for estimate in estimates}


def no_kappa(row: Mapping[str, Any]) -> str:
    at = row["at_threshold"]
    assert at["threshold"] is None
    assert at["confusion"] is None
    assert reasons(row, "kappa", "tpr", "tnr", "f1") == {in_words(at["reason"])}
    return in_words(at["reason"])


def labelled(
    values: Iterable[Any], *, unit: str = "answer", key: str = "grade", settles: bool = True
) -> tuple[Project, dict[str, Sample]]:
    """Ann's values of one sample each, and nothing else; they are enough."""
    values = list(values)
    project, _ = graded_project(count=0)
    samples = add_samples(project, [f"s{place:02}" for place in range(len(values))])
    rows = [(name, unit, "ann", value) for name, value in zip(samples, values, strict=True)]
    add_labels(project.criteria.get(key=key), samples, rows)
    if settles:
        one_label_settles(project.criteria.get(key=key))
    return project, samples


def judged(
    project: Project, samples: Iterable[str], score: Callable[[int], Any], *, unit: str = "answer", **more: Any
) -> None:
    rows = [(name, unit, score(place)) for place, name in enumerate(samples)]
    known = {sample.external_id: sample for sample in project.samples.all()}
    add_judge(project, "judge", known, rows, **{"dimension": "grade", **more})


def test_no_labels_at_all() -> None:
    project, _ = graded_project(count=0)
    found = align(grade_of(project))
    assert found["judges"] == []
    assert found["reference"]["units"] == found["reference"]["positives"] == found["reference"]["ties"] == 0
    assert "No judge has scores for this criterion." in judge_table(found)
    people = agreement(grade_of(project), reader=SYSTEM)
    assert (people["units"], people["ratings"], people["raters"], people["pairs"]) == (0, 0, [], [])
    assert all(e["value"] is None and e["reason"] for e in people["estimates"].values())
    report = build_report(criterion=grade_of(project))
    assert report.plots == {}
    page = report_html(report)
    assert "No labels for this criterion yet." in page
    assert "<details" not in page, "nothing to fold out"


def test_scores_without_labels() -> None:
    project, _ = graded_project(count=0)
    samples = add_samples(project, ["a", "b", "c"])
    judged(project, samples, lambda place: place / 2)
    _, row = against(grade_of(project))
    assert row["coverage"] == {"scored": 0, "failed": 0, "missing": 0, "unlabelled": 3}
    assert no_kappa(row) == "no unit has a human reference yet"
    assert reasons(row, "spearman", "kendall", "pearson") == {"fewer than 2 units"}
    assert row["sweep_best"] == {
        "threshold": None,
        "kappa": None,
        "optimistic": True,
        "reason": remark("no_reference"),
    }


def test_labels_without_scores() -> None:
    project, _ = graded_project()
    assert align(grade_of(project))["judges"] == []


@pytest.mark.parametrize(
    ("grade", "which", "why"),
    [(5, "pass", "annotators fail no unit"), (1, "fail", "annotators pass no unit")],
)
def test_one_class_only(grade: int, which: str, why: str) -> None:
    project, samples = labelled([grade] * 20)
    judged(project, samples, lambda place: place / 20)
    reference, row = against(grade_of(project))
    assert (reference["units"], reference["positives"]) == (20, 20 if grade == 5 else 0)
    assert no_kappa(row) == f"all 10 scored units of the dev set {which}"
    assert reasons(row, "roc_auc") == {why}
    assert reasons(row, "spearman", "kendall", "pearson") == {"all human values are equal"}


def test_one_sample() -> None:
    project, samples = labelled([5])
    judged(project, samples, lambda place: 0.5)
    _, row = against(grade_of(project))
    assert no_kappa(row)
    assert row["sweep_best"]["kappa"] is None
    assert in_words(row["sweep_best"]["reason"]) == "only one category was used at every threshold"


def test_equal_scores_choose_nothing() -> None:
    project, samples = graded_project()
    judged(project, samples, lambda place: 0.5)
    _, row = against(grade_of(project))
    # Everything passes: kappa is zero, which is a figure, and says that this judge tells nothing apart.
    assert row["at_threshold"]["kappa"]["value"] == 0
    assert row["at_threshold"]["tnr"]["value"] == 0
    assert row["roc_auc"]["value"] == 0.5
    assert reasons(row, "spearman", "kendall", "pearson") == {"all scores are equal"}


def test_failed_scores_only() -> None:
    project, samples = graded_project()
    judged(project, samples, lambda place: None)
    _, row = against(grade_of(project))
    assert row["coverage"] == {"scored": 0, "failed": 16, "missing": 0, "unlabelled": 0}
    assert no_kappa(row) == "the judge scored none of the units that have a human reference"
    assert row["labels"] is None


def test_coverage_counts_what_is_missing() -> None:
    project, samples = graded_project()
    known = {**samples, **add_samples(project, ["new"])}
    names = list(samples)
    rows = [(name, "answer", 0.1 * (place % 9)) for place, name in enumerate(names[:20])]
    failed = [(name, "answer", None) for name in names[20:25]]
    add_judge(project, "judge", known, [*rows, *failed, ("new", "answer", 0.5)], dimension="grade")
    reference, row = against(grade_of(project))
    dev = {name for name, is_dev in stored_sides(grade_of(project)).items() if is_dev}
    counts = [sum(name in dev for name in part) for part in (names[:20], names[20:25], names[25:])]
    assert row["coverage"] == dict(zip(("scored", "failed", "missing"), counts, strict=True)) | {"unlabelled": 1}
    assert row["spearman"]["n"] == row["roc_auc"]["n"] == counts[0]
    assert reference["ties"] > 0


def test_lower_is_better_is_the_same_judge_turned_round() -> None:
    project, samples = graded_project()
    scores = scores_like(samples)
    add_judge(project, "up", samples, scores, dimension="grade")
    add_judge(
        project, "down", samples, [(n, u, -s) for n, u, s in scores], dimension="grade", higher_is_better=False
    )  # fmt: skip
    _, up = against(grade_of(project), "up", shown=False)
    _, down = against(grade_of(project), "down", shown=False)
    assert (up["higher_is_better"], down["higher_is_better"]) == (True, False)
    assert up["roc_auc"]["value"] > 0.5
    assert down["roc_auc"]["value"] == pytest.approx(up["roc_auc"]["value"])
    assert down["sweep_best"]["kappa"] == pytest.approx(up["sweep_best"]["kappa"])
    assert down["at_threshold"]["confusion"] == up["at_threshold"]["confusion"]
    # The correlations are of the scores as they stand.
    assert down["spearman"]["value"] == pytest.approx(-up["spearman"]["value"])
    text = report_html(build_report(criterion=grade_of(project), judge_name="down"))
    assert "Mean of annotators" in text
    assert "≤ -0." in text


def test_a_judge_that_answers_with_labels() -> None:
    project, _ = graded_project(count=0)
    samples = add_samples(project, [f"s{place:02}" for place in range(24)])
    values = ("yes", "no", "unsure")
    support = project.criteria.get(key="support")
    add_labels(support, samples, [(n, "claim:0", "ann", values[place % 3]) for place, n in enumerate(samples)])
    one_label_settles(support)
    said = [*(values[place % 3] for place in range(20)), "no", "no", "perhaps", None]
    judged(project, samples, lambda place: said[place], unit="claim:0", dimension="support")
    _, row = against(support)
    # "perhaps" is no option of the criterion: the reply was not understood.
    assert row["coverage"] == {"scored": 11, "failed": 1, "missing": 0, "unlabelled": 0}
    at = row["at_threshold"]
    assert (at["threshold"], at["split"]) == (None, "dev")
    assert 0 < at["kappa"]["n"] < 22
    # The same half: what the test half says of its labels is locked as well.
    assert row["labels"]["kappa"]["n"] == at["kappa"]["n"]
    dev = {name for name, is_dev in stored_sides(support).items() if is_dev}
    right = [said[place] == values[place % 3] for place in range(22) if f"s{place:02}" in dev]
    assert row["labels"]["percent"]["value"] == pytest.approx(sum(right) / len(right))
    assert in_words(row["labels"]["linear"]["reason"]) == "the levels have no order"


def test_labels_that_are_no_options() -> None:
    project, samples = graded_project()
    judged(project, samples, lambda place: "splendid")
    _, row = against(grade_of(project))
    assert row["coverage"] == {"scored": 0, "failed": 16, "missing": 0, "unlabelled": 0}
    assert no_kappa(row) == "the judge scored none of the units that have a human reference"
    assert row["labels"] is None


def test_labels_of_an_ordinal_criterion_are_its_numbers() -> None:
    project, samples = graded_project()
    judged(project, samples, lambda place: str(max(1, GRADES[place % len(GRADES)] - (place % 6 == 1))))
    _, row = against(grade_of(project))
    assert 1 > row["labels"]["quadratic"]["value"] > row["labels"]["kappa"]["value"] > 0.5
    assert row["pearson"]["value"] > 0.9
    assert row["roc_auc"]["value"] > 0.9


def test_a_label_among_numbers_is_a_failure() -> None:
    project, samples = graded_project()
    judged(project, samples, lambda place: "5" if place < 2 else place % 5)
    _, row = against(grade_of(project))
    assert row["labels"] is None
    dev = {name for name, is_dev in stored_sides(grade_of(project)).items() if is_dev}
    failed = len(dev & {"s00", "s01"})
    assert row["coverage"] == {"scored": len(dev) - failed, "failed": failed, "missing": 0, "unlabelled": 0}


def test_overall_is_held_against_every_criterion_on_the_same_kind_of_unit() -> None:
    fluency = {**TRISTATE, "key": "fluency", "unit": "answer"}
    project = make_project("desk", criteria=["support", TRISTATE | {"key": "truth"}, fluency])
    samples = add_samples(project, ["a", "b"])
    add_judge(project, "overall", samples, [("a", "answer", 0.1), ("b", "answer", 0.2)], dimension="overall")
    add_judge(project, "claims", samples, [("a", "claim:0", 0.1)], dimension="anything")
    add_judge(project, "own", samples, [("a", "claim:0", 0.1)], dimension="truth")
    add_judge(project, "own", samples, [("a", "claim:0", 0.2)], dimension="anything")
    found = {
        criterion.key: [(row["judge"], row["dimension"]) for row in align(criterion)["judges"]]
        for criterion in project.criteria.all()
    }
    assert found == {
        "support": [("claims", "anything"), ("own", "anything")],
        # One that scored the criterion itself is held to that.
        "truth": [("claims", "anything"), ("own", "truth")],
        "fluency": [("overall", "overall")],
    }


def test_the_latest_version_speaks_for_a_judge() -> None:
    project, samples = graded_project()
    judged(project, samples, lambda place: place, label="1")
    judged(project, samples, lambda place: -place, label="2")
    _, row = against(grade_of(project))
    assert row["version"] == "2"
    assert "judge 2" in judge_table(align(grade_of(project)))


def test_a_criterion_without_passes() -> None:
    project, samples = labelled(
        [round(0.1 * (place % 10), 1) for place in range(20)], unit="context:0", key="relevance"
    )
    judged(project, samples, lambda place: place % 10, unit="context:0", dimension="relevance")
    relevance = project.criteria.get(key="relevance")
    reference, row = against(relevance)
    said = {"method": METHOD, "units": 20, "positives": None, "ties": None, "reason": remark("no_passes")}
    assert said.items() <= reference.items()
    assert no_kappa(row) == "the criterion says nowhere which values pass"
    assert reasons(row, "roc_auc") == {"the criterion says nowhere which values pass"}
    assert row["pearson"]["value"] == pytest.approx(1)
    assert row["coverage"]["scored"] == 20


def test_neither_numbers_nor_passes() -> None:
    criterion = {key: value for key, value in TRISTATE.items() if key != "pass"}
    project = make_project("desk", criteria=[criterion])
    samples = add_samples(project, ["a", "b", "c"])
    support = project.criteria.get()
    add_labels(support, samples, [("a", "claim:0", "ann", "yes"), ("b", "claim:0", "ann", "no")])
    judged(project, samples, lambda place: place, unit="claim:0", dimension="support")
    _, row = against(support)
    assert reasons(row, "spearman", "kendall", "pearson") == {
        "the criterion’s values are no numbers, and none of them counts as pass"
    }


def test_numbers_that_are_only_names() -> None:
    criterion = {**TRISTATE, "options": [{"value": n} for n in (1, 2, 3)], "pass": [1]}
    project = make_project("desk", criteria=[criterion])
    samples = add_samples(project, [f"s{place:02}" for place in range(24)])
    support = project.criteria.get()
    add_labels(support, samples, [(n, "claim:0", "ann", 1 + place % 3) for place, n in enumerate(samples)])
    one_label_settles(support)
    judged(project, samples, lambda place: float(place % 3 == 0), unit="claim:0", dimension="support")
    _, row = against(support)
    # Correlated with the share that passes, since 3 is no more than 1 on a nominal scale.
    assert row["spearman"]["value"] == pytest.approx(1)
    judged(project, samples, lambda place: 1 - float(place % 3 == 0), unit="claim:0", dimension="support", label="2")
    assert "Share that passes" in report_html(build_report(criterion=support))


@pytest.mark.parametrize("passing", [True, False])
def test_the_share_that_passes_is_the_right_way_round(passing: bool) -> None:
    criterion = {
        **TRISTATE,
        "scale": "binary",
        "options": [{"value": True}, {"value": False}],
        "pass": [passing],
    }
    project = make_project("desk", criteria=[criterion])
    samples = add_samples(project, [f"s{place:02}" for place in range(24)])
    support = project.criteria.get()
    add_labels(support, samples, [(n, "claim:0", "ann", place % 3 == 0) for place, n in enumerate(samples)])
    one_label_settles(support)
    # High where people pass, and once where they fail: on dev, since test is closed.
    odd = 1 if passing else 3
    GroupSide.objects.create(project=project, criterion_key=support.key, group=f"s{odd:02}", side=Side.DEV)
    judged(
        project, samples, lambda place: float((place % 3 == 0) is passing or place == odd), unit="claim:0",
        dimension="support",
    )  # fmt: skip
    _, row = against(support)
    assert row["spearman"]["value"] > 0.8
    assert row["pearson"]["value"] > 0.8
    assert row["roc_auc"]["value"] > 0.8
    report = build_report(criterion=support)
    assert "Share that passes" in report_html(report)
    (furthest,) = report.result["judges"][0]["disagreements"]
    assert furthest["external_id"] == f"s{odd:02}"
    assert (furthest["human"], furthest["passes"], furthest["score"]) == (0, False, 1)


def test_a_verdict_outranks_the_majority() -> None:
    project, samples = labelled([5, 5, 1], settles=False)
    rows = [("s00", "answer", "ben", 5), ("s01", "answer", "ben", 1), ("s02", "answer", "ben", 1)]
    add_labels(grade_of(project), samples, rows)
    judged(project, samples, lambda place: place)
    reference, _ = against(grade_of(project), shown=False)
    assert (reference["units"], reference["positives"], reference["ties"]) == (2, 1, 1)
    rita = User.objects.create_user("rita")
    for name, value in (("s00", 1), ("s01", 4)):
        Verdict.objects.create(
            sample=samples[name],
            unit="answer",
            criterion=grade_of(project),
            state="settled",
            value=value,
            method="adjudicated",
            decided_by=rita,
        )
    # One verdict against two labels, the other settles the tie.
    reference, _ = against(grade_of(project))
    assert (reference["units"], reference["positives"], reference["ties"]) == (3, 1, 0)
    assert reference["verdicts"] == 2
    Verdict.objects.filter(sample=samples["s00"]).update(state="disputed", value=None, method="", decided_by=None)
    # Disputed again: what Ann and Ben said of it is no reference until a reviewer decides.
    reference, _ = against(grade_of(project), shown=False)
    assert (reference["positives"], reference["verdicts"]) == (1, 1)
    assert reference["unsettled"] == {"single": 0, "elsewhere": 0, "open": 1}


def test_a_unit_with_a_verdict_and_no_label() -> None:
    project, samples = labelled([5, 1])
    more = {**samples, **add_samples(project, ["x"])}
    Verdict.objects.create(
        sample=more["x"], unit="answer", criterion=grade_of(project), state="settled", value=5, method="unanimous"
    )
    judged(project, more, lambda place: place)
    reference, row = against(grade_of(project))
    assert (reference["units"], reference["positives"], reference["single_labels"]) == (3, 2, 3)
    assert row["coverage"]["scored"] == row["roc_auc"]["n"] == sum(stored_sides(grade_of(project)).values()) > 0


def test_a_sample_without_a_side_is_not_read_out() -> None:
    """Split in half, it lies on neither side yet; settled later it may come to test."""
    project, _ = graded_project()
    grade = grade_of(project)
    tied = add_samples(project, ["t00", "t01"])
    add_labels(
        grade,
        tied,
        [(name, "answer", who, value) for name in ("t00", "t01") for who, value in (("ann", 1), ("ben", 5))],
    )
    judged(project, tied, lambda place: float(place % 2))
    result = build_report(criterion=grade).result
    shown = {one["external_id"] for one in result["judges"][0]["disagreements"]}
    assert result["reference"]["ties"] == 3  # with one of Ben's grades that falls on the other side
    assert shown
    assert not shown & {"t00", "t01"}


def test_the_largest_scores_can_be_reckoned_with() -> None:
    project, samples = graded_project()
    judged(project, samples, lambda place: (-1) ** place * LARGEST_SCORE)
    assert build_report(criterion=grade_of(project)).result["judges"][0]["roc_auc"]["value"] is not None


def test_without_pass_and_fail_nothing_is_decided() -> None:
    options = [{"value": value} for value in "abc"]
    kind = {"key": "kind", "unit": "answer", "scale": "nominal", "prompt": "Which?", "options": options}
    project = make_project(criteria=[kind])
    samples = add_samples(project, [f"s{place:02}" for place in range(60)])
    criterion = project.criteria.get(key="kind")
    values = ("a", "b", "c")
    rows = [(name, "answer", who, values[n % 3]) for n, name in enumerate(samples) for who in ("ann", "ben")]
    add_labels(criterion, samples, rows)
    judged(project, samples, lambda place: values[place % 3], dimension="kind")
    (row,) = build_report(criterion=criterion).result["judges"]
    assert row["decision"]["verdict"] == "cannot_tell"
    assert in_words(row["decision"]["reason"]) == (
        "Its kappa with annotators is not known: the criterion says nowhere which values pass."
    )


def test_ties_are_left_out_and_counted() -> None:
    project, samples = labelled([5, 5, 1, 1], settles=False)
    add_labels(grade_of(project), samples, [(name, "answer", "ben", 5) for name in samples])
    judged(project, samples, lambda place: place)
    reference, row = against(grade_of(project))
    assert (reference["units"], reference["positives"], reference["ties"]) == (2, 2, 2)
    # Ties have no side yet, and what the judge said of them stays closed until they have one.
    assert row["roc_auc"]["n"] == row["spearman"]["n"] == 1


def test_another_criterion_s_labels_and_scores_are_none_of_this_one_s() -> None:
    project, samples = graded_project()
    add_judge(project, "judge", samples, scores_like(samples), dimension="grade")
    before = align(grade_of(project))
    add_labels(project.criteria.get(key="support"), samples, [(name, "claim:0", "ann", "yes") for name in samples])
    add_judge(project, "judge", samples, [(name, "claim:0", 0.5) for name in samples], dimension="support")
    elsewhere, others = graded_project("elsewhere")
    add_judge(elsewhere, "judge", others, scores_like(others), dimension="grade")
    assert align(grade_of(project)) == before
