"""experiment.json is read strictly: what is wrong is named with its place, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.models import AuditEntry
from systems.models import Experiment, ExperimentRule, SystemVersion
from tests.annotate.factories import World, make_sample
from tests.systems.building import command
from tests.systems.experiments.building import create, create_refused, figures
from tests.systems.experiments.conftest import SPEC, answer

Write = Callable[..., Path]


def other(**changed: Any) -> dict[str, Any]:
    return {**SPEC, **changed}


def rule(**changed: Any) -> dict[str, Any]:
    return other(rule={**SPEC["rule"], **changed})


def with_metric(metric: dict[str, Any]) -> dict[str, Any]:
    return other(metrics=[*SPEC["metrics"], metric])


WRONG = [
    ([], "experiment: must be an object."),
    (other(bar=1), "experiment: unknown field “bar”."),
    ({"versions": ["v1", "v2"], "metrics": []}, "experiment: “rule” is missing."),
    (other(versions=["v1"]), "versions: must be a list of 2 to 20."),
    (other(versions=["v1", "v1"]), "versions: “v1” is named twice."),
    (other(versions=["v1", "v9"]), "versions[1]: there is no version “v9”. Versions: v1, v2."),
    (other(versions=["v1", 2]), "versions[1]: must be a text"),
    (other(baseline="v9"), "baseline: “v9” is none of v1, v2."),
    (other(set="support"), "set: “support” is not frozen."),
    (other(set="support@2"), "set: Test set “support@2” not found."),
    (other(metrics=[]), "metrics: must be a list of 1 to 50."),
    (with_metric({"name": "x"}), "metrics[3]: names neither"),
    (with_metric({"criterion": "none"}), "metrics[3].criterion: “none” is none of"),
    (with_metric({"derived": "happiness"}), "metrics[3].derived: “happiness” is none of"),
    (with_metric({"field": "mood"}), "metrics[3].field: “mood” is none of"),
    (with_metric({"criterion": "relevance"}), "metrics[3]: criterion “relevance” has no direction"),
    (with_metric({"field": "contexts"}), "metrics[3]: “contexts” has no direction."),
    (with_metric({"field": "cost", "direction": "higher"}), "metrics[3].direction: of “cost” it is “lower”."),
    (with_metric({"field": "cost", "judge": "checker"}), "metrics[3]: what is measured has no “judge”."),
    (with_metric({"criterion": "grade"}), "metrics[3]: “grade” is there already."),
    (with_metric({"criterion": "grade", "name": "g", "judge": "x"}), "metrics[3].judge: “x” is none of checker."),
    (with_metric({"derived": "context_recall"}), "metrics[3]: “context_recall” needs a criterion"),
    (rule(primary="speed"), "rule.primary: “speed” is none of"),
    (rule(margin=-1), "rule.margin: must be 0 or more."),
    (rule(margin="a"), "rule.margin: must be a number."),
    (rule(level=1), "rule.level: must be from 0.5"),
    (rule(guards=[{"metric": "faithfulness", "margin": 0}]), "rule.guards[0]: “faithfulness” is the primary metric"),
    (rule(guards=[{"metric": "grade"}]), "rule.guards[0]: “margin” is missing."),
    (rule(guards=[{"metric": "grade", "margin": 0}] * 2), "rule.guards[1]: “grade” is a guard already."),
]


@pytest.mark.parametrize(("spec", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_named(compared: World, write: Write, spec: Any, said: str) -> None:
    assert said in create_refused(write, spec)
    assert not Experiment.objects.exists()
    assert not AuditEntry.objects.filter(action__startswith="experiment").exists()


def test_a_version_without_responses_or_without_common_questions(compared: World, write: Write) -> None:
    SystemVersion.objects.create(project=compared.project, name="v3")
    assert "versions[1]: “v3” has no responses." in create_refused(write, other(versions=["v1", "v3"]))
    command("import_questions", "desk", "more", write("m.jsonl", [{"id": "q99", "question": "Else?"}]))
    command("import_samples", "desk", write("b.jsonl", [answer(99, "v3")]))
    assert "“v3” has no responses to the questions of support@1" in create_refused(
        write, other(versions=["v1", "v2", "v3"])
    )
    without = {name: value for name, value in other(versions=["v1", "v2", "v3"]).items() if name != "set"}
    assert "“v3” was asked nothing that “v1” was asked" in create_refused(write, without)
    assert not Experiment.objects.exists()


def test_a_bad_name_is_refused(compared: World, write: Write) -> None:
    assert "name: use a–z" in create_refused(write, SPEC, name="v2 or v1")


def test_defaults_are_filled_in(compared: World, write: Write) -> None:
    printed = create(write, SPEC)
    assert printed == ("Created experiment v2-or-v1; rule 1: faithfulness decides, 0 answers were labelled before.\n")
    stored = ExperimentRule.objects.get()
    assert stored.level == 0.95
    assert stored.metrics == [
        {
            "name": "faithfulness", "derived": "faithfulness", "criterion": "support", "direction": "higher",
            "judge": "checker",
        },
        {"name": "grade", "criterion": "grade", "direction": "higher"},
        {"name": "latency_ms", "field": "latency_ms", "direction": "lower"},
    ]  # fmt: skip


def test_the_same_again_changes_nothing_and_another_rule_is_the_next(compared: World, write: Write) -> None:
    create(write, SPEC)
    assert "Nothing has changed" in create(write, SPEC)
    figures()
    make_sample(compared.project, 1)
    compared.batch(criteria=["grade"], annotators=[compared.ann], overlap=1)
    printed = create(write, rule(margin=0.1))
    assert "Changed the rule" in printed
    assert "after figures had been made" in printed
    second, first = ExperimentRule.objects.all()
    assert (first.number, first.margin, first.after_figures) == (1, 0.05, False)
    assert (second.number, second.margin, second.after_figures) == (2, 0.1, True)
    assert figures()["rule_number"] == 2
    assert [one.action for one in AuditEntry.objects.filter(action__startswith="experiment").order_by("id")] == [
        "experiment.created",
        "experiment.figures",
        "experiment.rule_changed",
        "experiment.figures",
    ]


def test_other_versions_or_another_baseline_are_another_experiment(compared: World, write: Write) -> None:
    create(write, SPEC)
    for changed in ({"versions": ["v2", "v1"]}, {"baseline": "v2"}, {"set": None}):
        spec = {name: value for name, value in other(**changed).items() if value is not None}
        assert "compares other versions or questions" in create_refused(write, spec)
    assert ExperimentRule.objects.count() == 1
