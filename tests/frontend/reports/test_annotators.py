"""The page on the people of a report: who sees it, and what it says of whom."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.test import Client

from annotate.models import Label, LabelEvent, Project, Task, User, Verdict
from annotate.projects.read import one_criterion
from annotate.projects.write import set_member
from frontend.reports.shown import shown
from judges.models import AlignmentReport
from judges.reports.write import freeze_report
from tests.annotate.factories import TRISTATE, finish, help_with, make_samples, make_world, rewriting_history
from tests.clients import as_user
from tests.frontend.building import REVIEWERS_READ, WhoMay
from tests.judges.building import add_judge, add_labels, add_samples, graded_project, make_project, scores_like

URL = "/p/help/reports/support/annotators/"


@pytest.mark.usefixtures("disputes")
def test_who_may_see_it(project: Project, who_may: WhoMay) -> None:
    freeze_report(criterion=one_criterion(project, "support"))
    assert who_may(URL) == REVIEWERS_READ
    assert who_may("/p/help/reports/none/annotators/")["admin"] == 404


@pytest.mark.usefixtures("disputes")
def test_few_labels(rita: User, project: Project) -> None:
    freeze_report(criterion=one_criterion(project, "support"))
    text = seen(as_user(rita), URL)
    assert (
        "4 labels by 2 annotators on 2 units of 1 samples." in text
        or "4 labels by 2 annotators on 2 units of 1 sample." in text
    )
    assert "Low agreement isn’t proof of poor work" in text
    assert "Grey: fewer than 10 units" in text
    assert "No unit labelled twice by the same annotator yet." in text
    assert "No timed labels." in text


def test_labels_given_after_an_answer_are_counted(
    rita: User, ben: User, project: Project, disputes: list[Verdict]
) -> None:
    freeze_report(criterion=one_criterion(project, "support"))
    assert "reviewer’s answer" not in seen(as_user(rita), URL)
    help_with(Task.objects.get(annotator=ben, sample=disputes[0].sample), rita)
    assert "2 compared labels were given after a reviewer’s answer." in seen(as_user(rita), URL)


@pytest.fixture
def graded(rita: User, db: None) -> AlignmentReport:
    """Ann and Ben grade 32 answers, Cleo two of them; a judge is called like one of them."""
    project, samples = graded_project()
    set_member(project=project, user=rita, role="reviewer")
    grade = project.criteria.get(key="grade")
    add_labels(grade, samples, [("s00", "answer", "<b>cleo</b>", 1), ("s01", "answer", "<b>cleo</b>", 5)])
    add_judge(project, "ann", samples, scores_like(samples), dimension="grade")
    return freeze_report(criterion=grade)


GRADES = "/p/desk/reports/grade/annotators/"


def test_every_person_with_their_figures(graded: AlignmentReport, rita: User) -> None:
    hidden = as_user(rita).get(GRADES).content.decode()
    numbered = [row[0] for row in rows(hidden, "Agreement of each annotator with the others")]
    assert len({name for name in numbered if name.startswith("Annotator ")}) == 3
    assert numbered[3:] == ["All annotators"]
    Project.objects.update(show_names=True)
    page = as_user(rita).get(GRADES).content.decode()
    assert "<b>cleo</b>" not in page
    everybody = {one["name"]: one for one in graded.result["annotators"]["people"]}
    assert list(everybody) == ["ann", "ben", "<b>cleo</b>"]
    first = rows(page, "Agreement of each annotator with the others")
    assert [row[0] for row in first] == ["ann", "ben", "<b>cleo</b>", "All annotators"]
    for row in first[:3]:
        one = everybody[row[0]]
        assert row[1:4] == [str(one["units"]), str(one["samples"]), str(one["agreement"]["n"])]
        for cell, estimate in zip(
            row[4:8], (one["kappa"], one["agreement"], one["rates"]["tpr"], one["rates"]["tnr"]), strict=True
        ):
            expected = shown(estimate)
            assert cell.split() == f"{expected.text} {expected.interval or expected.why}".split()
    chosen = rows(page, "Options chosen, by annotator")
    assert [row[1:] for row in chosen if row[0] == "<b>cleo</b>"] == [["2", "50%", "0%", "0%", "0%", "50%"]]
    assert chosen[-1][1] == "66"
    # The matrix is of people alone, the judge with Ann's name is none.
    assert [row[0] for row in rows(page, "Kappa of every two raters")] == ["ann", "ben", "<b>cleo</b>"]
    assert "<small>judge</small>" not in page


def test_who_stands_out_is_said_first(rita: User) -> None:
    """Cleo fails a third of what Ann, Ben and Dora pass."""
    project = make_project("apart", criteria=[TRISTATE])
    project.show_names = True
    project.save()
    set_member(project=project, user=rita, role="reviewer")
    support = project.criteria.get(key="support")
    samples = add_samples(project, [f"s{n:03}" for n in range(120)])
    said = [("no" if n % 4 == 0 else "yes", "no" if n % 3 == 0 or n % 4 == 0 else "yes") for n in range(120)]
    rows = [
        (name, "claim:0", who, own if who == "cleo" else usual)
        for name, (usual, own) in zip(samples, said, strict=True)
        for who in ("ann", "ben", "cleo", "dora")
    ]
    add_labels(support, samples, rows)
    freeze_report(criterion=support)
    client, url = as_user(rita), "/p/apart/reports/support/annotators/"
    text = seen(client, url)
    assert "cleo agrees clearly less with the others" in text
    assert "on passes (0." in text
    assert text.index("agrees clearly less") < text.index("Agreement with the others")
    html = client.get(url).content.decode()
    assert html.count("side-against") == text.count("lower 0.")
    assert "/p/apart/samples/?criterion=support&amp;agreement=disagree" in html


def test_labels_made_elsewhere_have_no_weeks(graded: AlignmentReport, rita: User) -> None:
    text = seen(as_user(rita), GRADES)
    assert "No weeks to compare: no label has a day: labels made elsewhere bring none." in text
    assert graded.result["annotators"]["weeks"]["mondays"] == []


def test_one_person_alone(rita: User) -> None:
    project = make_project("solo", criteria=[TRISTATE])
    set_member(project=project, user=rita, role="reviewer")
    support = project.criteria.get(key="support")
    add_labels(support, add_samples(project, ["a", "b"]), [(name, "claim:0", "ann", "yes") for name in "ab"])
    freeze_report(criterion=support)
    text = seen(as_user(rita), "/p/solo/reports/support/annotators/")
    assert "2 labels by 1 annotator on 2 units of 2 samples." in text
    assert "Nothing to compare: no other annotator labelled these units." in text
    assert "Who agrees with whom" not in text


def test_no_labels_yet(rita: User) -> None:
    project = make_project("empty", criteria=[TRISTATE])
    set_member(project=project, user=rita, role="reviewer")
    freeze_report(criterion=project.criteria.get(key="support"))
    text = seen(as_user(rita), "/p/empty/reports/support/annotators/")
    assert "No labels for this criterion yet." in text


def test_work_done_here_has_weeks_times_and_second_labels(db: None) -> None:
    world = make_world()
    make_samples(world.project, 3)
    for _ in range(2):
        for task in world.batch(criteria=["support"]).tasks.order_by("pk"):
            finish(task)
    # Half a minute for each choice, in the week of the 16th.
    with_times(world.project)
    freeze_report(criterion=world.criteria("support")[0])
    page = as_user(world.rita).get("/p/desk/reports/support/annotators/").content.decode()
    assert "Weeks starting Monday, UTC" in page
    assert re.findall(r"16 Nov <small>2026</small>", page)
    again = {row[0]: row[1:] for row in rows(page, "Self-agreement")}
    assert again["All annotators"][1].startswith("1.00")
    times = {row[0]: row[1:] for row in rows(page, "Time per label, by annotator")}
    assert times["All annotators"][:2] == ["30", "30 to 30"]


def with_times(project: Project) -> None:
    start = datetime(2026, 11, 18, 12, tzinfo=UTC)
    for place, label in enumerate(Label.objects.filter(rater__project=project).order_by("task_id", "unit")):
        with rewriting_history():
            LabelEvent.objects.filter(label=label).update(created_at=start + timedelta(seconds=30 * place))
        Label.objects.filter(pk=label.pk).update(updated_at=start + timedelta(seconds=30 * place))


def test_a_large_crowd_is_cut(rita: User) -> None:
    project = make_project("crowd", criteria=[TRISTATE])
    set_member(project=project, user=rita, role="reviewer")
    support = project.criteria.get(key="support")
    people = [f"p{n:02}" for n in range(33)]
    add_labels(support, add_samples(project, ["a"]), [("a", "claim:0", name, "yes") for name in people])
    freeze_report(criterion=support)
    text = seen(as_user(rita), "/p/crowd/reports/support/annotators/")
    assert "The 30 with the most units are listed. 3 more are not listed" in text
    assert "The 20 annotators with the most units are shown; 13 more with shared units" in text


def seen(client: Client, url: str) -> str:
    return words(client.get(url).content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split()).replace(" .", ".").replace(" ;", ";")


def rows(page: str, label: str) -> list[list[str]]:
    """The cells of the table in the region with this label, its body only."""
    found = re.search(rf'aria-label="{label}"><table.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert found, label
    lines = re.findall(r"<tr[^>]*>(.*?)</tr>", found[1], re.DOTALL)
    return [[words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL)] for line in lines]
