"""The list of judges, one judge with its versions, and what changed between two of these."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Project, User
from judges.models import PROMISE, Judge, JudgeVersion, Look, Run, Score, VersionState
from judges.reports.write import freeze_report
from judges.versions.write import add_version, create_judge
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.building import REVIEWERS_READ, WhoMay, make_samples
from tests.frontend.conftest import (
    Staff,
    give,
    make_batch,
    make_disputes,
    make_help_desk,
    make_staff,
)
from tests.judges.building import add_judge
from tests.judges.certificates.decided import certified

World = tuple[Staff, Project, Judge]

ADMIN = {**REVIEWERS_READ, "reviewer": 403}
OVERLAP = {"measure": "token_overlap", "criterion": "support"}
ALL, BEST = "all of them together", "the best match"


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """A judge that runs here, with a score that failed, and one that was imported."""
    staff = make_staff()
    project = make_help_desk(staff)
    samples = {sample.external_id: sample for sample in make_samples(project, 4)}
    make_disputes(make_batch(project, staff), samples["s0"])
    judge = create_judge(project=project, name="Words", kind="lexical", config=OVERLAP, actor=staff.alice)
    add_judge(project, "From elsewhere", samples, [("s0", "claim:0", 0.5)], label="2026-01")
    version = judge.versions.get()
    run = Run.objects.create(version=version, purpose="scores", state="done", scope={"all": True}, planned=2)
    for unit, status, number in (("claim:0", "ok", 0.75), ("claim:1", "error", None)):
        Score.objects.create(
            version=version, run=run, sample=samples["s0"], unit=unit, dimension="support", status=status, number=number
        )
    return staff, project, judge


staff = copied_from_world(0)
project = copied_from_world(1)
judge = copied_from_world(2)


@pytest.fixture
def second(judge: Judge, alice: User) -> JudgeVersion:
    config = {**OVERLAP, "contexts": "best"}
    return add_version(judge=judge, config=config, state=VersionState.TRIAL, based_on=judge.versions.get(), actor=alice)


def test_examples_are_for_those_who_may_know_their_verdicts(
    alice: User, rita: User, project: Project, judge: Judge, second: JudgeVersion
) -> None:
    """Reviewers may not, nor does an admin who still has one of these samples to label."""
    drawn = [{"sample": "s3", "unit": "claim:0", "value": "zebra", "shows": {}}]
    config = {**second.config, "examples": {"count": 1, "seed": 1, "drawn": drawn}}
    JudgeVersion.objects.filter(pk=second.pk).update(config=config)
    at = f"/p/help/judges/{judge.pk}/"
    places = (f"{at}?version=2", f"{at}diff/", f"{at}versions/2/export/")

    def shows(who: User) -> list[bool]:
        return ["zebra" in as_user(who).get(place).content.decode() for place in places]

    assert (shows(alice), shows(rita)) == ([True, True, True], [False, False, False])
    give(project, alice, "s3")
    assert shows(alice) == [False, False, False]
    assert as_user(alice).get(places[2]).status_code == 403


def test_the_list_says_what_each_judge_is_worth(alice: User, project: Project, judge: Judge) -> None:
    freeze_report(criterion=project.criteria.get(key="support"))
    reply = as_user(alice).get("/p/help/judges/")
    rows = {row["judge"].name: row for row in reply.context["rows"]}
    assert list(rows) == ["From elsewhere", "Words"]
    assert (rows["Words"]["row"].coverage.ok, rows["Words"]["row"].coverage.failed) == (1, 1)
    assert [(one.dimension, one.unit_label) for one in rows["Words"]["row"].measures] == [("support", "Claim")]
    assert [url for *_others, url in rows["Words"]["agreement"]] == [
        "/p/help/reports/support/judge/?judge=Words&measures=support"
    ]
    assert (rows["Words"]["can_run"], rows["From elsewhere"]["can_run"]) == (True, False)
    text = reply.content.decode()
    for said in ("1 failed", "Lexical", "Imported", "New judge", f"/p/help/judges/{judge.pk}/run/now/"):
        assert said in text
    assert as_user(alice).get(rows["Words"]["agreement"][0][-1]).status_code == 200


def test_without_judges_it_says_what_one_is(alice: User, charlie: User) -> None:
    from annotate.projects.write import create_project

    create_project(slug="other", spec={}, created_by=alice)
    text = as_user(alice).get("/p/other/judges/").content.decode()
    assert "No judges yet" in text
    assert 'href="/p/other/import/?kind=scores"' in text


def test_a_reviewer_reads_and_changes_nothing(rita: User, judge: Judge, second: JudgeVersion) -> None:
    client = as_user(rita)
    for path in ("judges/", f"judges/{judge.pk}/", f"judges/{judge.pk}/diff/", "runs/"):
        text = client.get(f"/p/help/{path}").content.decode()
        assert 'method="post"' not in text.split("<main", 1)[1], path
        for hidden in ("New judge", "Endpoints", "/edit/", "/run/", ".json"):
            assert hidden not in text.split("<main", 1)[1], (path, hidden)


def test_who_may_what(judge: Judge, second: JudgeVersion, who_may: WhoMay) -> None:
    at = f"/p/help/judges/{judge.pk}/"
    for path in ("", "diff/", "versions/1/export/"):
        assert who_may(f"{at}{path}") == REVIEWERS_READ, path
    for path in ("edit/", "run/"):
        assert who_may(f"{at}{path}") == ADMIN, path
    assert who_may("/p/help/judges/new/") == ADMIN
    for path in ("direction/", "versions/2/keep/", "versions/2/drop/", "run/now/", "run/estimate/"):
        reply = who_may(f"{at}{path}", "post", {"higher_is_better": "true"})
        assert reply == {**ADMIN, "admin": 200 if path == "run/estimate/" else 302}, path
        assert who_may(f"{at}{path}")["admin"] == 405, path


def test_another_projects_judge_is_not_found(alice: User, judge: Judge) -> None:
    from annotate.projects.write import create_project

    create_project(slug="other", spec={}, created_by=alice)
    for path in ("", "edit/", "run/", "diff/", "versions/1/export/"):
        assert as_user(alice).get(f"/p/other/judges/{judge.pk}/{path}").status_code == 404, path


def test_one_judge_with_its_versions(alice: User, judge: Judge, second: JudgeVersion) -> None:
    reply = as_user(alice).get(f"/p/help/judges/{judge.pk}/")
    assert reply.context["shown"].number == 1
    facts = {fact["name"]: fact["value"] for fact in reply.context["facts"]}
    assert not {"Applies to", "Name of the measure"} & set(facts), "its measures tell that"
    assert (facts["Measure"], facts["Compared with"]) == ("Token overlap", "the contexts")
    text = reply.content.decode()
    assert second.content_hash[:8] in text
    assert f'href="/p/help/judges/{judge.pk}/diff/?from=1&amp;to=2"' in text
    other = as_user(alice).get(f"/p/help/judges/{judge.pk}/?version=2")
    assert {fact["name"]: fact["value"] for fact in other.context["facts"]}["Several contexts"] == BEST
    assert as_user(alice).get(f"/p/help/judges/{judge.pk}/?version=3").status_code == 404


def test_an_imported_judge_is_shown_as_such(alice: User, project: Project) -> None:
    imported = project.judges.get(name="From elsewhere")
    text = as_user(alice).get(f"/p/help/judges/{imported.pk}/").content.decode()
    assert "were imported, so" in text
    assert "/edit/" not in text
    for path in ("edit/", "run/"):
        assert as_user(alice).get(f"/p/help/judges/{imported.pk}/{path}").status_code == 404


def test_it_says_what_the_judge_may_do(rita: User, judge: Judge) -> None:
    client, at = as_user(rita), f"/p/help/judges/{judge.pk}/"
    assert "Conclusion" not in client.get(at).content.decode()
    certified(judge.versions.get(), "alone_in_region")
    text = client.get(at).content.decode()
    assert '<span class="badge badge-ok">may decide alone in its certified score range</span>' in text
    assert "/p/help/reports/support/judge/?judge=Words&amp;measures=support#certificate" in text
    Look.objects.update(promise=PROMISE - 1)
    text = client.get(at).content.decode()
    assert "no longer valid" in text
    assert "before the promise of test evaluations changed" in text
    assert "may decide alone" not in text


def test_what_changed(alice: User, judge: Judge, second: JudgeVersion) -> None:
    client = as_user(alice)
    rows = client.get(f"/p/help/judges/{judge.pk}/diff/").context["rows"]
    assert [(row["name"], row["before"], row["after"]) for row in rows] == [("Several contexts", ALL, BEST)]
    back = client.get(f"/p/help/judges/{judge.pk}/diff/?from=2&to=1").context["rows"]
    assert [(row["before"], row["after"]) for row in back] == [(BEST, ALL)]
    assert (
        "No changes between these versions"
        in client.get(f"/p/help/judges/{judge.pk}/diff/?from=1&to=1").content.decode()
    )
    for query in ("from=1&to=9", "from=x&to=1"):
        assert client.get(f"/p/help/judges/{judge.pk}/diff/?{query}").status_code == 404


def test_only_admins_see_the_examples(alice: User, rita: User, judge: Judge, second: JudgeVersion) -> None:
    """They are verdicts on samples that a reviewer may still have to label."""
    drawn = [{"sample": "s3", "unit": "claim:0", "value": "contradicted", "shows": {"claim": "It is not."}}]
    second.config = {**second.config, "examples": {"count": 1, "seed": 1, "drawn": drawn}}
    second.save()
    for path in ("?version=2", "diff/"):
        of_admin = as_user(alice).get(f"/p/help/judges/{judge.pk}/{path}").content.decode()
        of_reviewer = as_user(rita).get(f"/p/help/judges/{judge.pk}/{path}").content.decode()
        assert "s3, claim:0: contradicted" in of_admin, path
        for hidden in ("s3", "contradicted", "It is not."):
            assert hidden not in of_reviewer.split("<main", 1)[1], (path, hidden)
        assert "hidden because you may" in of_reviewer, path


def test_a_trial_is_kept_and_dropped(alice: User, judge: Judge, second: JudgeVersion) -> None:
    client = as_user(alice)
    for step, state, said in (("keep", "kept", "Version 2 is active"), ("drop", "dropped", "Version 2 discarded")):
        text = client.post(f"/p/help/judges/{judge.pk}/versions/2/{step}/", follow=True).content.decode()
        second.refresh_from_db()
        assert second.state == state
        assert said in text
    assert client.post(f"/p/help/judges/{judge.pk}/versions/2/burn/").status_code == 404
    assert client.post(f"/p/help/judges/{judge.pk}/versions/7/keep/").status_code == 404


def test_which_way_its_scores_go(alice: User, judge: Judge) -> None:
    client = as_user(alice)
    text = client.post(f"/p/help/judges/{judge.pk}/direction/", {"higher_is_better": "false"}, follow=True)
    judge.refresh_from_db()
    assert not judge.higher_is_better
    assert "Direction changed: lower is better." in text.content.decode()


def test_a_version_can_be_taken_along(alice: User, judge: Judge) -> None:
    reply = as_user(alice).get(f"/p/help/judges/{judge.pk}/versions/1/export/")
    assert reply.json()["name"] == "Words"
    assert f'filename="help-judge-{judge.pk}-1.json"' in reply["Content-Disposition"]


def test_the_number_of_queries_does_not_grow(alice: User, project: Project, judge: Judge) -> None:
    client = as_user(alice)
    paths = ("judges/", f"judges/{judge.pk}/", f"judges/{judge.pk}/diff/", "runs/")
    add_version(judge=judge, config={**OVERLAP, "contexts": "best"})
    for path in paths:
        client.get(f"/p/help/{path}")
    counts = {}
    for size in ("few", "many"):
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(f"/p/help/{path}").status_code == 200
            counts[size, path] = len(queries)
        for share in ("recall", "f1"):
            version = add_version(judge=judge, config={**OVERLAP, "share": share}, actor=alice)
            other = create_judge(project=project, name=f"{share} {size}", kind="lexical", config=OVERLAP)
            for one in (version, other.versions.get()):
                Run.objects.create(version=one, purpose="scores", state="done", created_by=alice)
    for path in paths:
        assert counts["few", path] == counts["many", path], path
