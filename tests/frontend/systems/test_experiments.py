"""The pages of experiments: what they say, to whom, and what they do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Batch, Sample, Task
from annotate.projects.read import active_annotators
from systems.models import Experiment, ExperimentFigures, Question
from tests.annotate.factories import World
from tests.clients import as_user
from tests.database import copied_from_world
from tests.frontend.systems.test_pages import read
from tests.systems.building import command, freeze, import_questions
from tests.systems.experiments.building import create, draw, figures, label
from tests.systems.experiments.conftest import SPEC, answer
from tests.systems.experiments.conftest import compared_world as _world  # noqa: F401 - the same versions here

Write = Callable[..., Path]

compared = copied_from_world()
P = "/p/desk/systems/"
E = f"{P}experiments/v2-or-v1/"


@pytest.fixture
def experiment(compared: World, write: Write) -> World:
    create(write, SPEC)
    return compared


@pytest.fixture
def labelled(experiment: World) -> World:
    """People support all of v2, and of v1 what stands first; v1 and v2 are nine and five o'clock."""
    label(experiment, draw(12), lambda task, unit: "yes" if by_v2(task) or unit == "claim:0" else "no")
    figures()
    return experiment


def by_v2(task: Task) -> bool:
    return task.sample.pipeline_version == "v2"


def text_of(page: str) -> str:
    """What is read of it, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_the_first_screen_answers_whether_it_may_be_shipped(labelled: World) -> None:
    page = text_of(read(as_user(labelled.alice), E))
    for shown in (
        "Ready to ship",
        "v2 is better on Faithfulness, and worse on no guard.",
        "+0.50",
        "support@1, 12 questions",
        "before any answer was labelled",
        "12 of 12 drawn, 12 in all",
        "Read the questions whose answers changed",
    ):
        assert shown in page, shown
    assert "Label " not in page.partition("v2 minus v1")[0].partition("Next")[2]


def test_without_labels_the_judge_is_shown_and_believed_nothing(experiment: World) -> None:
    figures()
    page = read(as_user(experiment.alice), E)
    assert "Whether v2 is better on Faithfulness cannot be told yet." in text_of(page)
    assert '<td class="num raw">+0.50</td>' in page
    assert f'href="{E}draw/?questions=30"' in page
    # Reviewers draw nothing: they are told what it takes.
    assert f'href="{E}draw/' not in read(as_user(experiment.rita), E)


def test_before_figures_they_are_worked_out_by_a_button(experiment: World) -> None:
    client = as_user(experiment.alice)
    assert "No figures yet" in read(client, E)
    assert not ExperimentFigures.objects.exists()
    assert client.post(f"{E}figures/")["Location"] == E
    assert "Cannot tell yet" in read(client, E)
    assert "Update figures" not in read(client, E)
    label(experiment, draw(6), lambda task, unit: "yes")
    assert "Update figures" in read(client, E)


def test_a_changed_rule_is_said(labelled: World, write: Write) -> None:
    client = as_user(labelled.alice)
    assert "The rule was changed" not in read(client, E)
    create(write, {**SPEC, "rule": {**SPEC["rule"], "margin": 0.2}})
    figures()
    page = text_of(read(client, E))
    assert "The rule was changed after figures had been worked out: it is rule 2." in page
    assert "after 24 labelled answers" in page


def test_questions_come_by_how_they_changed_with_both_answers(labelled: World, write: Write) -> None:
    client = as_user(labelled.alice)
    page = text_of(read(client, f"{E}questions/?metric=latency_ms&version=v2"))
    assert "0 better, 12 worse" in page
    assert "Question 3?" in page
    answers = [{"question_id": "q3", "pipeline_version": "v2", "repeat": 1, "answer": "It opens at ten."}]
    command("import_samples", "desk", write("more.jsonl", answers))
    page = read(client, f"{E}questions/")
    shown = text_of(page)
    assert "Faithfulness, v2 against v1: 11 better, 0 worse." in shown
    assert "0.50 → 1" in shown
    # One of whose answers people have not labelled all comes last.
    assert shown.rindex("Not labelled on both versions") > shown.rindex("Better")
    for wrong in ("?metric=bleu", "?version=v1", "?version=v9"):
        read(client, f"{E}questions/{wrong}", 404)


def hrefs(page: str) -> list[str]:
    return [unescape(href) for href in re.findall(r'href="([^"]*)"', page)]


def test_one_question_has_an_address_and_leads_to_a_batch_that_does_not_count(labelled: World) -> None:
    client = as_user(labelled.alice)
    alone = next(href for href in hrefs(read(client, f"{E}questions/")) if "question=" in href)
    shown = read(client, f"{E}questions/{alone}")
    assert shown.count('<li class="card') == 1
    assert "the same contexts" in shown
    form = read(client, next(href for href in hrefs(shown) if "batches/new" in href))
    assert "The 2 samples you selected" in form
    assert "batches/new" not in read(as_user(labelled.rita), f"{E}questions/{alone}")
    for wrong in ("999999", "x"):
        read(client, f"{E}questions/?question={wrong}", 404)


def test_more_questions_take_no_more_queries(labelled: World, write: Write) -> None:
    client = as_user(labelled.rita)

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as found:
            read(client, path)
        return len(found)

    one = next(href for href in hrefs(read(client, f"{E}questions/")) if "question=" in href)
    assert queries(f"{E}questions/") == queries(f"{E}questions/{one}")


def test_what_only_one_version_retrieved_is_marked(labelled: World) -> None:
    sample = Sample.objects.get(external_id="q3@v2")
    sample.contexts = [{"id": "c", "text": "Closed on holidays."}, *sample.contexts[:1]]
    sample.save()
    question = Question.objects.get(external_id="q3")
    page = text_of(read(as_user(labelled.rita), f"{E}questions/?question={question.pk}"))
    assert "2 contexts in only one version" in page
    assert page.count("only here") == 2
    assert "rank 2 in the other" in page


def test_next_leads_to_what_was_drawn_and_waits(experiment: World) -> None:
    batch = draw(4, "--draft")
    figures()
    client = as_user(experiment.alice)

    def steps() -> str:
        return read(client, E).partition('class="next"')[2].partition("</ol>")[0]

    assert f'<a href="/p/desk/batches/{batch.number}/">Open batch {batch.number}</a>' in steps()
    assert "Label 30 more" not in steps()
    client.post(f"/p/desk/batches/{batch.number}/open/")
    assert "tasks left" in steps()
    first = Task.objects.filter(batch=batch).order_by("annotator_id")[0].annotator
    label(experiment, batch, lambda task, unit: "yes" if task.annotator == first else "no")
    figures()
    assert "disputed units" in steps()
    assert f"/p/desk/adjudicate/?batch={batch.number}" in steps()


def test_who_has_answers_to_label_gets_to_them(experiment: World) -> None:
    figures()
    batch = draw(4, "--annotators", "rita")
    assert f'href="/p/desk/label/?batch={batch.number}"' in read(as_user(experiment.rita), E)


def test_labels_are_drawn_from_the_page(experiment: World) -> None:
    client = as_user(experiment.alice)
    page = read(client, f"{E}draw/?questions=7")
    assert 'value="7"' in page
    # Who labels by role is ticked.
    ticked = re.findall(r'name="annotators" value="([0-9]+)"[^>]*checked', page)
    assert sorted(map(int, ticked)) == sorted(one.pk for one in active_annotators(experiment.project))
    given = {"questions": 99, "annotators": [experiment.ann.pk], "overlap": 1, "seed": 3, "ask": 0}
    unsettled = client.post(f"{E}draw/", given | {"questions": 5})
    assert (unsettled.status_code, "One label per sample resolves nothing." in unsettled.content.decode()) == (
        422,
        True,
    )
    given["single_labels"] = "on"
    refused = client.post(f"{E}draw/", given)
    assert (refused.status_code, "Only 12 questions can be drawn" in refused.content.decode()) == (422, True)
    assert not Batch.objects.exists()
    drawn = client.post(f"{E}draw/", given | {"questions": 5})
    batch = Batch.objects.get()
    assert drawn["Location"] == f"/p/desk/batches/{batch.number}/"
    assert (batch.status, batch.samples.count()) == ("open", 10)
    assert batch.single_labels_by == experiment.alice
    # The order is drawn once.
    assert 'name="seed"' not in read(client, f"{E}draw/")
    client.post(f"{E}draw/", given | {"questions": 2})
    assert (Batch.objects.count(), Experiment.objects.get().seed) == (2, 3)


def form(client: Client, **given: Any) -> dict[str, Any]:
    """What the page of a new experiment sends: roles by the names of metrics."""
    page = read(client, f"{P}new-experiment/")
    titles = dict(re.findall(r'name="role_(\d+)"[^>]*aria-label="Role of ([^"]+)"', page))
    place = {title: number for number, title in titles.items()}
    sent: dict[str, Any] = {"name": "from-page", "frozen": "", "versions": ["v1", "v2"], "baseline": "v1"}
    for title, (role, margin, judge) in given.pop("metrics").items():
        number = place[title]
        sent |= {f"role_{number}": role, f"margin_{number}": margin, f"judge_{number}": judge}
    return sent | given


def test_an_experiment_is_made_from_the_page(compared: World) -> None:
    client = as_user(compared.alice)
    metrics = {"Faithfulness": ("primary", "0.02", "checker"), "Latency": ("guard", "100", "")}
    made = client.post(f"{P}new-experiment/", form(client, metrics=metrics | {"Cost": ("exploratory", "", "")}))
    assert made["Location"] == f"{P}experiments/from-page/"
    rule = Experiment.objects.get().rules.get()
    assert (rule.primary, rule.margin, rule.guards) == ("faithfulness", 0.02, [{"metric": "latency_ms", "margin": 100}])
    assert [one["name"] for one in rule.metrics] == ["faithfulness", "latency_ms", "cost"]
    assert rule.metrics[0]["judge"] == "checker"
    assert "from-page" in read(client, P)


@pytest.mark.parametrize(
    ("metrics", "given", "said"),
    [
        ({"Latency": ("guard", "1", "")}, {}, "Choose one primary metric."),
        ({"Latency": ("primary", "1", ""), "Cost": ("primary", "1", "")}, {}, "Choose one primary metric."),
        ({"Latency": ("primary", "-1", "")}, {}, "greater than or equal to 0"),
        ({"Latency": ("primary", "1", "")}, {"versions": ["v1"]}, "versions: must be a list of 2"),
        ({"Latency": ("primary", "1", "")}, {"name": "a b"}, "Enter a valid"),
    ],
)
def test_what_is_wrong_with_it_is_said(
    compared: World,
    metrics: dict[str, Any],
    given: dict[str, Any],
    said: str,
) -> None:
    client = as_user(compared.alice)
    reply = client.post(f"{P}new-experiment/", form(client, metrics=metrics, **given))
    assert (reply.status_code, said in reply.content.decode()) == (422, True)
    assert not Experiment.objects.exists()


def test_files(labelled: World) -> None:
    client = as_user(labelled.rita)
    page = client.get(f"{P}experiments/v2-or-v1.html")
    assert page["Content-Disposition"] == 'attachment; filename="desk-v2-or-v1.html"'
    file = page.content.decode()
    assert "v2 is better on Faithfulness" in file
    # It needs nothing else, and leads nowhere.
    assert not re.search(r"(?:src|href)=|url\(|@import|<script", file)
    text = client.get(f"{P}experiments/v2-or-v1.md").content.decode()
    assert "| Faithfulness | Primary metric |" in text
    assert json.loads(client.get(f"{P}experiments/v2-or-v1.json").content) == ExperimentFigures.objects.get().result
    read(client, f"{P}experiments/v2-or-v1.pdf", 404)


@pytest.mark.parametrize(("form", "shown"), [("markdown", "**Ready to ship:**"), ("html", "<!doctype html>")])
def test_the_command_prints_them_too(labelled: World, tmp_path: Path, form: str, shown: str) -> None:
    printed = command("experiment", "desk", "v2-or-v1", "--format", form)
    assert shown in printed
    call_command("experiment", "desk", "v2-or-v1", "--format", form, "--out", tmp_path / "e", stdout=StringIO())
    assert (tmp_path / "e").read_text() == printed


def test_who_may_not_sees_nothing_of_it(labelled: World) -> None:
    shown = (E, f"{E}questions/", f"{P}experiments/v2-or-v1.json")
    changes = (f"{E}draw/", f"{P}new-experiment/")
    for path in (*shown, *changes):
        read(as_user(labelled.charlie), path, 404)
        read(as_user(labelled.ann), path, 403)
        assert Client().get(path).status_code == 302
    for path in shown:
        read(as_user(labelled.rita), path)
    for path in changes:
        read(as_user(labelled.rita), path, 403)
        assert as_user(labelled.rita).post(path).status_code == 403
    assert as_user(labelled.rita).post(f"{E}figures/").status_code == 403
    read(as_user(labelled.alice), f"{P}experiments/other/", 404)
    read(as_user(labelled.alice), f"{E}?version=v1", 404)
    read(as_user(labelled.dora), "/p/next-door/systems/experiments/v2-or-v1/", 404)


def test_who_still_has_an_answer_to_label_is_told_no_figures(experiment: World) -> None:
    figures()
    draw(4, "--annotators", "rita")
    client = as_user(experiment.rita)
    for path in (E, f"{E}questions/"):
        page = read(client, path)
        assert "You still have answers of this experiment, or passages of its questions, to label." in page
        for hidden in ("+0.50", "Cannot tell yet", "It opens at nine"):
            assert hidden not in page, (path, hidden)
    assert client.get(f"{P}experiments/v2-or-v1.json")["Location"] == E


def test_bands_and_targets_are_set_on_a_page_and_stand_beside_levels(labelled: World) -> None:
    client = as_user(labelled.alice)
    page = read(client, f"{P}bands/")
    fields = dict(re.findall(r'name="(\d+)_fair"[^>]*aria-label="Fair from, of ([^"]+)"', page))
    place = next(number for number, title in fields.items() if title == "Faithfulness")
    given = {f"{place}_fair": "0.1", f"{place}_good": "0.2", f"{place}_excellent": "0.15", f"{place}_target": "0.3"}
    refused = client.post(f"{P}bands/", given)
    assert (refused.status_code, "each must be better" in refused.content.decode()) == (422, True)
    assert client.post(f"{P}bands/", given | {f"{place}_excellent": "0.4"})["Location"] == P
    client.post(f"{E}figures/")
    shown = text_of(read(client, E))
    assert "good to excellent" in shown or "excellent" in shown
    assert "target 0.3" in shown
    assert "reached" in shown
    read(as_user(labelled.rita), f"{P}bands/", 403)
    read(as_user(labelled.charlie), f"{P}bands/", 404)


def test_parts_of_the_questions_are_folded_below_what_they_say(labelled: World, write: Write) -> None:
    client = as_user(labelled.alice)
    assert "By category, difficulty, type" not in read(client, E)
    rows = [
        {"id": f"q{n}", "question": f"Question {n}?", "category": "billing" if n % 2 else "setup"} for n in range(12)
    ]
    command("import_questions", "desk", "other", write("c.jsonl", rows))
    command("freeze_set", "desk", "other")
    answers = [answer(n, version, repeat=1) for version in ("v1", "v2") for n in range(12)]
    command("import_samples", "desk", write("again.jsonl", answers))
    create(write, {**SPEC, "set": "other@1"}, name="parted")
    found = figures("parted")
    assert {(one["by"], one["part"], one["questions"], one["few"]) for one in found["parts"]} == {
        ("category", "billing", 6, True),
        ("category", "setup", 6, True),
    }
    page = text_of(read(client, f"{P}experiments/parted/"))
    assert "By category, difficulty, type" in page
    assert "Exploratory. Faithfulness: no part differs beyond its interval" in page
    assert "billing few questions 6 0 labelled" in page


def chosen(page: str) -> dict[str, Any]:
    """What a form sends as it stands."""
    sent = {}
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', page, re.DOTALL):
        found = re.search(r'value="([^"]*)" selected', options)
        sent[name] = unescape(found[1]) if found else ""
    return sent | dict(re.findall(r'name="(margin_[0-9]+)" value="([^"]*)"', page))


def test_the_rule_is_changed_from_the_page_and_is_the_next_number(labelled: World, write: Write) -> None:
    own = [
        {"name": "g", "criterion": "grade"},
        {"field": "abstained", "direction": "lower"},
        *SPEC["metrics"],
    ]
    create(write, {**SPEC, "metrics": own, "rule": {**SPEC["rule"], "level": 0.9}})
    client = as_user(labelled.alice)
    page = read(client, f"{E}rule/")
    assert "the rule was changed after that" in text_of(page)
    sent = chosen(page)
    experiment = Experiment.objects.get()
    assert client.post(f"{E}rule/", sent)["Location"] == E
    assert experiment.rules.count() == 2
    place = next(name.removeprefix("role_") for name, value in sent.items() if value == "primary")
    refused = client.post(f"{E}rule/", sent | {f"role_{place}": "guard"})
    assert (refused.status_code, "Choose one primary metric." in refused.content.decode()) == (422, True)
    client.post(f"{E}rule/", sent | {f"margin_{place}": "0.2"})
    rule, before = experiment.rules.all()[:2]
    assert (rule.number, rule.margin, rule.level, rule.after_figures, rule.set_by) == (
        3,
        0.2,
        0.9,
        True,
        labelled.alice,
    )
    assert (rule.metrics, rule.guards) == (before.metrics, before.guards)
    assert "No figures yet" in read(client, E)
    client.post(f"{E}figures/")
    assert "it is rule 3" in read(client, E)
    for user, status in ((labelled.rita, 403), (labelled.ann, 403), (labelled.charlie, 404)):
        read(as_user(user), f"{E}rule/", status)


def test_the_trend_has_every_experiment_and_marks_what_changed(labelled: World, write: Write) -> None:
    client = as_user(labelled.rita)
    import_questions(write("more.jsonl", [{"id": "q90", "question": "And on Mondays?"}]))
    freeze()
    metrics = [{"derived": "faithfulness", "criterion": "support"}, *SPEC["metrics"][1:]]
    create(write, {**SPEC, "set": "support@2", "metrics": metrics}, name="next")
    assert "next" not in text_of(read(client, f"{P}trend/"))
    figures("next")
    page = read(client, f"{P}trend/")
    charts = page.split('<section class="card')[1:]
    titles = [re.findall(r"<h2[^>]*><bdi>([^<]*)</bdi>", chart)[0] for chart in charts]
    assert titles == ["Faithfulness", "Grade", "Latency"]
    faithfulness, _grade, latency = charts
    assert re.findall(r'href="[^"]*experiments/([^/]*)/"', faithfulness) == ["v2-or-v1", "next"]
    assert "another judge, another test set" in faithfulness
    assert "another judge" not in latency
    assert "another test set" in latency
    assert latency.count('class="change"') == 1
    # Nothing was labelled for the second: it has no figure of people's, and what was measured.
    assert (faithfulness.count("<circle"), latency.count("<circle")) == (2, 4)
    places = [float(place) for place in re.findall(r'(?:cx|cy|y1|y2|x1|x2)="([0-9.-]+)%"', page)]
    assert all(0 <= place <= 100 for place in places)
    read(as_user(labelled.ann), f"{P}trend/", 403)
    read(as_user(labelled.charlie), f"{P}trend/", 404)
    read(as_user(labelled.dora), "/p/next-door/systems/trend/")


def test_the_trend_tells_no_figures_to_who_still_has_to_label(experiment: World) -> None:
    figures()
    draw(4, "--annotators", "rita")
    page = text_of(read(as_user(experiment.rita), f"{P}trend/"))
    assert "1 experiment is hidden until you have submitted your labels." in page
    assert "No figures yet" in page


def test_the_list_says_what_each_experiment_says(labelled: World, write: Write) -> None:
    create(write, SPEC, "no-figures")
    page = text_of(read(as_user(labelled.rita), P))
    first, second = (page.index(name) for name in ("no-figures no figures yet", "v2-or-v1 Ready to ship"))
    assert first < second < page.index("Test sets")
    draw_more = labelled.batch(
        criteria=["grade"], annotators=[labelled.rita], overlap=1, selection={"method": "list", "samples": ["q1@v1"]}
    )
    assert draw_more.status == "open"
    assert "v2-or-v1 hidden until you have submitted your labels" in text_of(read(as_user(labelled.rita), P))
    assert "v2-or-v1 Ready to ship" in text_of(read(as_user(labelled.alice), P))


def test_the_list_asks_as_much_of_one_experiment_as_of_many(labelled: World, write: Write) -> None:
    client = as_user(labelled.rita)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            read(client, P)
        return len(found)

    once = queries()
    for name in ("second", "third"):
        create(write, SPEC, name)
        figures(name)
    assert queries() == once


def test_each_candidate_has_a_tab(compared: World, write: Write) -> None:
    command("import_samples", "desk", write("v3.jsonl", [answer(n, "v3") for n in range(12)]))
    create(write, {**SPEC, "versions": ["v1", "v2", "v3"]})
    figures()
    page = read(as_user(compared.alice), f"{E}?version=v3")
    assert '<a href="?version=v3" aria-current="page"><bdi>v3</bdi></a>' in page
    assert '<a href="?version=v2"><bdi>v2</bdi></a>' in page
    assert "?version=v1" not in page
