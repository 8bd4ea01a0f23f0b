"""Scores of whole samples beside the labels of their claims, from the database to the report's page."""

from __future__ import annotations

import pytest

from alignment import faithfulness
from annotate.core.blindness import SYSTEM
from annotate.models import Criterion
from frontend.reports.file import report_html
from judges.core.scores_read import judge_scores, whole_scores
from judges.reports.read import data_version
from judges.reports.reproduction import reproduce
from judges.reports.write import freeze_report
from tests.judges.building import add_judge, add_labels, add_samples, make_project, one_label_settles, stored_sides

pytestmark = pytest.mark.django_db

CLAIMS = 4


@pytest.fixture
def support() -> Criterion:
    """60 samples of four claims, as many of them supported as place % 5; one label of s59 is missing."""
    project = make_project()
    samples = add_samples(project, [f"s{place:02}" for place in range(60)])
    support = project.criteria.get(key="support")
    rows = [
        (name, f"claim:{claim}", "ann", "supported" if claim < place % 5 else "contradicted")
        for place, name in enumerate(samples)
        for claim in range(CLAIMS)
    ]
    add_labels(support, samples, rows[:-1])
    one_label_settles(support)
    scores = [(name, "answer", place % 5 / 5) for place, name in enumerate(samples)]
    add_judge(project, "old", samples, [(name, "answer", 1.0) for name in samples], dimension="faithfulness")
    add_judge(project, "old", samples, scores, dimension="faithfulness", label="new")
    add_judge(project, "other", samples, scores, dimension="overall")
    claims = [(name, unit, 0.9 if value == "supported" else 0.2) for name, unit, _, value in rows]
    add_judge(project, "claims", samples, claims)
    return support


def test_a_faithfulness_judge_is_held_against_the_claims(support: Criterion) -> None:
    report = freeze_report(criterion=support)
    (metric,) = report.result["per_sample"]["metrics"]
    shares = [faithfulness([claim < place % 5 for claim in range(CLAIMS)]).value for place in range(59)]
    assert (metric["people"]["n"], metric["left_out"]) == (59, 1)
    assert metric["people"]["value"] == pytest.approx(sum(share or 0.0 for share in shares) / 59)
    claims, whole = metric["judges"]
    # This judge separates the claims, so its decisions on dev are people's.
    assert (claims["title"], claims["whole"], claims["on_dev"]) == ("claims", False, True)
    assert claims["difference"]["value"] == 0
    assert 0 < claims["people"]["n"] < 59
    # Of the judge of whole samples the latest version; what is called by another name is none of faithfulness.
    dev = [place for place in range(59) if stored_sides(support)[f"s{place:02}"]]
    assert (whole["title"], whole["dimension"], whole["whole"], whole["on_dev"], whole["people"]["n"]) == (
        "old new", "faithfulness", True, True, len(dev),
    )  # fmt: skip
    assert whole["spearman"]["value"] == pytest.approx(1)
    expected = sum(place % 5 / 5 - place % 5 / 4 for place in dev) / len(dev)
    assert whole["difference"]["value"] == pytest.approx(expected)
    assert reproduce(report) == []
    page = report_html(report)
    assert "Sample by sample" in page
    assert "1 more is left out, as part of it is unresolved" in page
    assert "the sample, as <bdi>faithfulness</bdi>" in page


def test_a_new_score_of_a_whole_sample_puts_the_report_out_of_date(support: Criterion) -> None:
    before, first = data_version(support), freeze_report(criterion=support)
    samples = {sample.external_id: sample for sample in support.project.samples.all()}
    add_judge(support.project, "another", samples, [("s00", "answer", 0.5)], dimension="support")
    assert data_version(support) != before
    second = freeze_report(criterion=support)
    assert second.fingerprint != first.fingerprint
    titles = [row["title"] for row in second.result["per_sample"]["metrics"][0]["judges"]]
    assert titles == ["claims", "another", "old new"]
    assert [one.judge for one in whole_scores(support, "another", reader=SYSTEM)] == ["another"]


def test_a_usual_name_is_of_the_criterion_that_asks_for_the_metric() -> None:
    own = {"key": "true", "unit": "claim", "scale": "binary", "prompt": "?", "options": [{"value": 1}, {"value": 0}]}
    for slug, criteria, expected in (
        ("alone", [own], {"true": 1}),
        ("both", [own, "support"], {"true": 0, "support": 1}),
        ("named", ["support", {**own, "key": "faithfulness", "unit": "answer"}], {"support": 0, "faithfulness": 0}),
    ):
        project = make_project(slug, criteria=criteria)
        samples = add_samples(project, ["s"])
        add_judge(project, "judge", samples, [("s", "answer", 0.5)], dimension="faithfulness")
        assert {one.key: len(whole_scores(one, reader=SYSTEM)) for one in project.criteria.all()} == expected


def test_abstentions_are_outside_faithfulness_and_counted_beside_it(support: Criterion) -> None:
    before = data_version(support)
    # Every fifth answer had none of its claims supported: a faithfulness of 0.
    abstain = [f"s{place:02}" for place in range(0, 60, 5)]
    support.project.samples.filter(external_id__in=abstain).update(abstained=True)
    assert data_version(support) != before
    report = freeze_report(criterion=support)
    found = report.result["per_sample"]
    (metric,) = found["metrics"]
    # By hand: 1, 2, 3, 4 of four claims, twelve times each, without s59, one label of which is missing.
    shares = [place % 5 / CLAIMS for place in range(59) if place % 5]
    assert (found["abstained"], metric["people"]["n"], metric["left_out"]) == (12, 47, 1)
    assert metric["people"]["value"] == pytest.approx(sum(shares) / 47)
    # Nor does a judge's score of such an answer count, of its claims or of all of it.
    whole = metric["judges"][1]
    dev = [place for place in range(59) if place % 5 and stored_sides(support)[f"s{place:02}"]]
    assert (whole["title"], whole["people"]["n"]) == ("old new", len(dev))
    assert whole["judge"]["value"] == pytest.approx(sum(place % 5 / 5 for place in dev) / len(dev))
    for said in (whole_scores(support, reader=SYSTEM), judge_scores(support, reader=SYSTEM)[0]):
        assert said
        assert not any(sample in abstain for one in said for sample, _unit in one.numbers)
    assert "12 answers abstain" in report_html(report)
    assert reproduce(report) == []


def test_claims_after_one_that_was_dropped_are_in_the_figures_of_their_sample(support: Criterion) -> None:
    before = freeze_report(criterion=support).result["per_sample"]["metrics"][0]
    # Of every third sample the first claim is no claim any more.
    for sample in support.project.samples.all()[::3]:
        sample.claims[0]["dropped"] = True
        sample.save()
    report = freeze_report(criterion=support)
    after = report.result["per_sample"]["metrics"][0]
    assert (before["people"]["n"], before["left_out"]) == (after["people"]["n"], after["left_out"]) == (59, 1)
    shares = [max(0, place % 5 - 1) / (CLAIMS - 1) if place % 3 == 0 else place % 5 / CLAIMS for place in range(59)]
    assert after["people"]["value"] == pytest.approx(sum(shares) / 59)
    assert reproduce(report) == []
