"""A certificate applied to what is stored of a pipeline's version: the same figures as for the scores themselves, and
nothing of what a person still has to label."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from drf_spectacular.generators import SchemaGenerator

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.models import Project, User
from annotate.projects.write import set_member
from judges.api.certificates_serializers import Applied, of_stored
from judges.certificates.apply import apply_certificate, apply_to_pipeline
from judges.certificates.write import issue_certificate, look_at_test
from judges.models import Score
from tests.annotate.api.test_schema import problems
from tests.annotate.factories import make_batch
from tests.clients import client_of
from tests.database import copied_from_world
from tests.judges.building import add_judge, add_samples
from tests.judges.certificates.test_looks import noisy_project

pytestmark = pytest.mark.django_db

ASKED = {"criterion": "grade", "judge": "judge", "pipeline": "v7"}
URL = "/api/projects/noisy/apply/"
SAMPLES = 40


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    """A certified judge, which has scored 38 of the 40 samples of v7, of which one failed, and two of v8."""
    project = noisy_project(count=240, noise=0.3)
    issue_certificate(look=look_at_test(criterion=project.criteria.get(), judge_name="judge"))
    scores = np.round(np.random.default_rng(3).normal(size=SAMPLES), 3).tolist()
    names = [f"kb-{place:02}@v7" for place in range(SAMPLES)]
    samples = add_samples(project, names, pipeline_version="v7")
    said = [(name, "answer", score) for name, score in zip(names[:37], scores, strict=False)]
    add_judge(project, "judge", samples, [*said, (names[37], "answer", None)], dimension="grade")
    few = ["kb-00@v8", "kb-01@v8"]
    more = add_samples(project, few, pipeline_version="v8")
    add_judge(project, "judge", more, [(few[0], "answer", 9.0), (few[1], "answer", -9.0)], dimension="grade")
    add_samples(project, ["kb-00@v9"], pipeline_version="v9")
    for name, role in (("alma", "admin"), ("rita", "reviewer")):
        set_member(project=project, user=User.objects.create_user(name), role=role)
    return project


project = copied_from_world()


def apply(project: Project, pipeline: str = "v7", user: str | None = None) -> dict[str, Any]:
    reader = SYSTEM if user is None else User.objects.get(username=user)
    found = apply_to_pipeline(
        project=project, criterion_key="grade", judge_name="judge", pipeline=pipeline, reader=reader
    )
    return Applied.show(of_stored(found, with_rows=True))


def ask(who: str, **change: Any) -> Any:
    return client_of(User.objects.get(username=who)).post(URL, {**ASKED, **change}, format="json")


def give(project: Project, who: str, names: list[str]) -> None:
    """An open batch in which these samples are this person's to label."""
    make_batch(project, [User.objects.get(username=who)], samples=names)


def test_it_is_what_comes_of_the_scores_themselves(project: Project) -> None:
    stored = Score.objects.filter(sample__pipeline_version="v7", status="ok").order_by("sample__external_id")
    rows = [{"sample": score.sample.external_id, "score": score.number} for score in stored.select_related("sample")]
    given = apply_certificate(project=project, criterion_key="grade", judge_name="judge", rows=rows)
    expected, found = Applied.show(given), apply(project)
    for name in ("pass_rate", "corrected_pass_rate", "scores", "samples", "threshold", "certificate", "region"):
        assert found[name] == expected[name], name
    assert [{name: value for name, value in row.items() if name != "unit"} for row in found["results"]] == (
        expected["results"]
    )
    assert {row["unit"] for row in found["results"]} == {"answer"}
    assert (found["pipeline"], found["held_back"]) == ("v7", 0)


def test_it_says_how_much_was_scored(project: Project) -> None:
    assert apply(project)["coverage"] == {
        "samples": 40, "samples_scored": 37, "units": 40, "scored": 37, "failed": {"error": 1},
    }  # fmt: skip


def test_repeats_other_things_and_other_versions_of_the_judge_count_for_nothing(project: Project) -> None:
    before = apply(project)
    samples = {sample.external_id: sample for sample in project.samples.filter(pipeline_version="v7")}
    score = Score.objects.get(sample__external_id="kb-00@v7")
    Score.objects.create(
        version=score.version, run=score.run, sample=score.sample, unit="answer", dimension="grade", repeat=1, number=9
    )
    add_judge(project, "judge", samples, [("kb-39@v7", "answer", 9.0)], dimension="overall")
    add_judge(project, "other", samples, [("kb-39@v7", "answer", 9.0)], dimension="grade")
    assert apply(project) == before


def test_what_can_not_be_applied(project: Project) -> None:
    for pipeline in ("v", "", "V7"):
        with pytest.raises(Invalid, match="Versions: v9, v8, v7"):
            apply(project, pipeline)
    with pytest.raises(Conflict, match="has no scores for the samples of version “v9”"):
        apply(project, "v9")
    add_judge(project, "judge", {}, [], dimension="grade", label="2")
    with pytest.raises(Conflict, match="is now"):
        apply(project)


def test_single_samples_are_for_admins(project: Project) -> None:
    admin, reviewer = ask("alma").json(), ask("rita").json()
    assert (len(admin["results"]), admin["held_back"]) == (37, 0)
    assert (reviewer["results"], reviewer["held_back"]) == ([], 37)
    assert "kb-0" not in json.dumps(reviewer)
    for name in ("pass_rate", "corrected_pass_rate", "coverage"):
        assert reviewer[name] == admin[name]


def test_what_one_still_has_to_label_is_held_back(project: Project) -> None:
    give(project, "alma", ["kb-03@v7", "kb-05@v7", "kb-39@v7"])
    found = ask("alma").json()
    assert (len(found["results"]), found["held_back"]) == (35, 2)
    assert not {"kb-03@v7", "kb-05@v7"} & {row["sample"] for row in found["results"]}
    assert ask("rita").status_code == 200


@pytest.mark.parametrize("who", ["alma", "rita"])
def test_shares_that_would_tell_are_refused(project: Project, who: str) -> None:
    """Of two samples, one one's own, a share says it all; and so does one of 0 or 1, of however many."""
    # Reviewers have still to decide about all that no person has settled.
    assert ask(who, pipeline="v8").status_code == (200 if who == "alma" else 409)
    give(project, who, ["kb-00@v8"])
    reply = ask(who, pipeline="v8")
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "figures_would_tell")
    give(project, who, ["kb-03@v7"])
    assert ask(who).status_code == 200
    Score.objects.filter(sample__pipeline_version="v7", status="ok").update(number=50.0)
    assert ask(who).status_code == 409
    assert apply(project)["pass_rate"]["value"] == 1.0


def test_the_request_names_one_of_both(project: Project) -> None:
    for change in ({"scores": [{"score": 1}]}, {"pipeline": 7}, {"pipeline": None}, {"pipeline": ["v7"]}):
        assert ask("alma", **change).status_code == 422
    nothing = client_of(User.objects.get(username="alma")).post(
        URL, {"criterion": "grade", "judge": "judge"}, format="json"
    )
    assert nothing.json()["error"] == {"code": "missing_field", "message": "Send either scores or pipeline."}


def test_replies_are_what_the_schema_says(project: Project) -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    operation = schema["paths"]["/api/projects/{slug}/apply/"]["post"]
    for who, pipeline, status in (("alma", "v7", 200), ("rita", "v7", 200), ("alma", "v9", 409), ("alma", "x", 422)):
        reply = ask(who, pipeline=pipeline)
        assert reply.status_code == status
        said = operation["responses"][str(status)]["content"]["application/json"]["schema"]
        assert problems(reply.json(), said, schema) == []


def test_command(project: Project) -> None:
    def run(*more: str) -> str:
        call_command("apply", "noisy", "--criterion", "grade", "--judge", "judge", *more, stdout=(out := StringIO()))
        return out.getvalue()

    assert json.loads(run("--pipeline", "v7", "--format", "json")) == json.loads(json.dumps(apply(project)))
    last = run("--pipeline", "v7").splitlines()[-1]
    assert last == "Scored are 37 of 40 units in 37 of 40 samples of “v7”; 1 failed, 2 not asked about."
    for wrong in ((), ("--pipeline", "v7", "--file", "x.csv"), ("--pipeline", "v9")):
        with pytest.raises(CommandError):
            run(*wrong)
