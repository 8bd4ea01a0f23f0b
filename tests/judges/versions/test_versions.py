"""Versions of judges: made once, hashed, taken into use and out of it; only those in use count."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from annotate.core.blindness import SYSTEM
from annotate.core.errors import Invalid, Refusal
from annotate.files.problems import RowError
from annotate.models import AuditEntry, Project, Sample
from judges.certificates.gate import gate
from judges.certificates.write import issue_certificate, look_at_test
from judges.core.scores_read import current_version, judge_scores, rationales, scores_that_count, whole_scores
from judges.kinds import registry
from judges.kinds.base import Kind, Refused
from judges.models import Endpoint, Judge, JudgeVersion, Run, RunPurpose, RunState, VersionState
from judges.reports.read import data_version
from judges.versions.identity import content_hash, imported_content_hash
from judges.versions.read import Difference, Line, version_diff
from judges.versions.write import add_version, create_judge, drop_version, judge_spec, keep_version
from tests.judges.building import add_judge, add_scores, graded_project, scores_like

pytestmark = pytest.mark.django_db


class PlainKind(Kind):
    """Takes {"prompt": text, "asks": bool, "of": [[judge, label]]}."""

    key = "lexical"
    code_version = 1

    def complete(self, config: Any, project: Project) -> dict[str, Any]:
        if not isinstance(config, dict) or not isinstance(config.get("prompt"), str):
            raise Refused("prompt", "a text.")
        return {"asks": False, "of": [], **config}

    def asks_model(self, config: Any) -> bool:
        return bool(config["asks"])

    def dimensions(self, config: Any) -> Sequence[tuple[str, str]]:
        return [("answer", "grade")]

    def units(self, config: Any, sample: Sample) -> Sequence[str]:
        return ["answer"]

    def size(self, config: Any, sample: Sample) -> Any:
        raise AssertionError("nothing is run here")

    @contextmanager
    def open(self, version: JudgeVersion) -> Iterator[Any]:
        yield None

    def members(self, config: Any) -> Sequence[tuple[str, str]]:
        return [(name, label) for name, label in config["of"]]


@pytest.fixture(autouse=True)
def kind(monkeypatch: pytest.MonkeyPatch) -> PlainKind:
    made = PlainKind()
    monkeypatch.setattr(registry, "_PLACES", {"lexical": "a.place", "composite": "a.place"})
    monkeypatch.setattr(registry, "import_module", lambda place: SimpleNamespace(KIND=made))
    return made


@pytest.fixture
def world() -> tuple[Project, dict[str, Sample]]:
    return graded_project()


@pytest.fixture
def project(world: tuple[Project, dict[str, Sample]]) -> Project:
    return world[0]


def plain(project: Project, name: str = "plain", **config: Any) -> Judge:
    return create_judge(project=project, name=name, kind="lexical", config={"prompt": "one", **config})


def give_scores(version: JudgeVersion, samples: dict[str, Sample], wrong_every: int = 7) -> None:
    add_scores(version, samples, scores_like(samples, wrong_every=wrong_every), dimension="grade", rationale="so")


def code_of(what: Any, **arguments: Any) -> str:
    with pytest.raises(Refusal) as refused:
        what(**arguments)
    return refused.value.code


def test_a_judge_comes_with_its_first_version_in_use(project: Project) -> None:
    judge = plain(project, "  Tidy  ")
    version = current_version(judge)
    assert version is not None
    assert (judge.name, version.number, version.label, version.state) == ("Tidy", 1, "1", VersionState.KEPT)
    assert version.config == {"prompt": "one", "asks": False, "of": []}
    noted = AuditEntry.objects.filter(subject="Tidy").order_by("id").values_list("action", flat=True)
    assert list(noted) == ["judge.created", "judge.version_added"]


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": "   "}),
        ("name", {"name": "x" * 201}),
        ("name", {"name": 7}),
        ("name", {"name": "a\0b"}),
        ("description", {"description": None}),
        ("description", {"description": "\ud800"}),
        ("higher_is_better", {"higher_is_better": 1}),
        ("kind", {"kind": None}),
        ("config.prompt", {"config": {"prompt": 3}}),
        ("config.prompt", {"config": "a prompt"}),
        ("config", {"config": {"prompt": "x" * 1_000_001}}),
        ("endpoint", {"endpoint": "main"}),
        ("endpoint", {"config": {"prompt": "a", "asks": True}}),
        ("endpoint", {"config": {"prompt": "a", "asks": True}, "endpoint": "elsewhere"}),
    ],
)
def test_what_is_wrong_is_named(field: str, given: dict[str, Any], project: Project) -> None:
    usual = {"project": project, "name": "judge", "kind": "lexical", "config": {"prompt": "one"}}
    with pytest.raises(Invalid) as refused:
        create_judge(**{**usual, **given})
    assert refused.value.details["field"] == field
    assert refused.value.message.startswith(f"{field}: ")
    assert not Judge.objects.exists()


def test_what_no_database_keeps_and_kinds_that_nothing_runs(project: Project) -> None:
    for config in ({"prompt": "a\0"}, {"prompt": "a", "x": float("nan")}):
        with pytest.raises(Invalid):
            create_judge(project=project, name="judge", kind="lexical", config=config)
    for kind in ("imported", "llm", "no such kind"):
        assert code_of(create_judge, project=project, name="judge", kind=kind, config={}) == "kind_not_runnable"


def test_a_name_is_given_once_in_a_project(project: Project) -> None:
    plain(project)
    usual = {"project": project, "kind": "lexical", "config": {"prompt": "two"}}
    assert code_of(create_judge, name=" plain", **usual) == "name_taken"
    elsewhere, _ = graded_project("elsewhere")
    assert plain(elsewhere).name == "plain"


def test_the_same_configuration_is_the_same_version(project: Project, kind: PlainKind) -> None:
    judge = plain(project)
    first = current_version(judge)
    assert add_version(judge=judge, config={"prompt": "one"}) == first
    assert add_version(judge=judge, config={"of": [], "prompt": "one", "asks": False}, state="trial") == first
    second = add_version(judge=judge, config={"prompt": "two"}, based_on=first)
    assert (second.number, second.label, second.based_on) == (2, "2", first)
    kind.code_version = 2
    third = add_version(judge=judge, config={"prompt": "one"})
    assert (third.number, current_version(judge)) == (3, third)
    assert (first.code_version, third.code_version) == (1, 2)


def test_everything_that_matters_is_in_the_hash(project: Project, kind: PlainKind) -> None:
    def digest(config: Any, endpoint: str | None = None) -> str:
        return content_hash(kind, config, endpoint)

    usual = {"prompt": "é", "n": 1}
    assert digest(usual) == digest({"n": 1, "prompt": "é"})
    # Fixed for good: another hash, and every certificate would look as if its judge had changed.
    written = '{"code_version":1,"config":{"n":1,"prompt":"é"},"endpoint":null,"kind":"lexical"}'
    assert digest(usual) == hashlib.sha256(written.encode()).hexdigest()
    others = [digest({**usual, "prompt": "è"}), digest({**usual, "n": 1.0}), digest({**usual, "n": True})]
    others += [digest({**usual, "more": None}), digest(usual, "main"), digest(usual, "other")]
    kind.code_version = 2
    others.append(digest(usual))
    kind.code_version, kind.key = 1, "nli"
    others.append(digest(usual))
    assert len({digest(usual), *others}) == len(others)
    kind.key = "lexical"
    assert digest(usual) not in others


def test_an_imported_version_keeps_its_hash() -> None:
    """Fixed for good as well: another one, and the next file would bring each judge a second time."""
    written = rb'{"source": "import", "version": "\u00e9"}'
    assert imported_content_hash({"version": "é", "source": "import"}) == hashlib.sha256(written).hexdigest()


def test_a_judge_that_asks_a_model_names_its_endpoint(project: Project) -> None:
    for name in ("main", "other"):
        Endpoint.objects.create(project=project, name=name, base_url="https://models.example/v1")
    config = {"prompt": "one", "asks": True}
    judge = create_judge(project=project, name="judge", kind="lexical", config=config, endpoint="main")
    version = current_version(judge)
    assert version is not None
    assert version.endpoint is not None
    assert version.endpoint.name == "main"
    assert add_version(judge=judge, config=config, endpoint="main") == version
    assert add_version(judge=judge, config=config, endpoint="other").number == 2


def test_its_description_makes_the_same_judge_elsewhere(project: Project) -> None:
    Endpoint.objects.create(project=project, name="main", base_url="https://models.example/v1")
    config = {"prompt": "one", "asks": True}
    judge = create_judge(
        project=project, name="j", kind="lexical", config=config, endpoint="main", description="d",
        higher_is_better=False,
    )  # fmt: skip
    version = judge.versions.get()
    elsewhere, _ = graded_project("elsewhere")
    Endpoint.objects.create(project=elsewhere, name="main", base_url="https://models.example/v2")
    same = create_judge(project=elsewhere, **judge_spec(version))
    assert judge_spec(same.versions.get()) == judge_spec(version)
    assert same.versions.get().content_hash == version.content_hash


def test_trials_are_kept_or_dropped(project: Project) -> None:
    judge = plain(project)
    first = current_version(judge)
    second = add_version(judge=judge, config={"prompt": "two"}, state="trial", based_on=first)
    third = add_version(judge=judge, config={"prompt": "three"}, state="trial")
    assert current_version(judge) == first
    keep_version(version=third)
    keep_version(version=third)
    assert current_version(judge) == third
    # Back to an earlier one only by dropping what came later: what a judge says today is its latest in use.
    assert code_of(keep_version, version=second) == "later_version_kept"
    assert code_of(add_version, judge=judge, config={"prompt": "two"}) == "later_version_kept"
    drop_version(version=third)
    drop_version(version=third)
    assert current_version(judge) == first
    assert add_version(judge=judge, config={"prompt": "two"}).state == VersionState.KEPT
    assert add_version(judge=judge, config={"prompt": "three"}, state="trial").state == VersionState.TRIAL
    assert add_version(judge=judge, config={"prompt": "two"}, state="trial").state == VersionState.KEPT
    noted = AuditEntry.objects.filter(subject="plain").order_by("id").values_list("action", flat=True)
    assert [action.removeprefix("judge.version_") for action in noted] == [
        "judge.created", "added", "added", "added", "kept", "dropped", "kept", "tried_again",
    ]  # fmt: skip
    assert code_of(add_version, judge=judge, config={"prompt": "x"}, state="dropped") == "bad_judge"
    other = plain(project, "other")
    assert code_of(add_version, judge=other, config={"prompt": "x"}, based_on=first) == "bad_judge"


def test_imported_judges_get_no_versions_here_and_files_none_of_ours(world: tuple[Project, dict[str, Sample]]) -> None:
    project, samples = world
    version = add_judge(project, "from a file", samples, scores_like(samples), dimension="grade")
    assert code_of(add_version, judge=version.judge, config={"prompt": "one"}) == "imported_judge"
    assert code_of(drop_version, version=version) == "imported_version"
    plain(project)
    from judges.files.import_scores import _Versions

    importing: Any = SimpleNamespace(project=project, job=None)
    with pytest.raises(RowError) as refused:
        _Versions(importing).id_of("plain", "1")
    assert (refused.value.code, refused.value.field) == ("conflict", "judge")


def test_what_is_in_use_elsewhere_or_under_way_is_not_dropped(project: Project) -> None:
    judge = plain(project)
    first = judge.versions.get()
    made_of = {"prompt": "sum", "of": [["plain", "1"]]}
    whole = create_judge(project=project, name="sum", kind="composite", config=made_of)
    assert code_of(drop_version, version=first) == "member_of_kept"
    drop_version(version=whole.versions.get())
    run = Run.objects.create(version=first, purpose=RunPurpose.SCORES, state=RunState.RUNNING)
    assert code_of(drop_version, version=first) == "run_under_way"
    run.state = RunState.PAUSED
    run.save()
    drop_version(version=first)
    assert code_of(keep_version, version=whole.versions.get()) == "member_not_kept"
    usual = {"project": project, "kind": "composite", "config": made_of}
    assert code_of(create_judge, name="another", **usual) == "member_not_kept"
    # On trial it may be made of anything.
    assert add_version(judge=whole, config={**made_of, "prompt": "x"}, state="trial").state == VersionState.TRIAL


def test_only_versions_in_use_are_held_against_people(world: tuple[Project, dict[str, Sample]]) -> None:
    project, samples = world
    grade = project.criteria.get(key="grade")
    judge = plain(project)
    first = judge.versions.get()
    trial = add_version(judge=judge, config={"prompt": "two"}, state="trial")
    give_scores(first, samples)
    before = data_version(grade)
    give_scores(trial, samples, wrong_every=9)
    said = [("plain", label, "grade", ("s00", "answer")) for label in ("1", "2")]
    assert data_version(grade) == before
    assert [one.version for one in judge_scores(grade, reader=SYSTEM)[0]] == ["1"]
    assert judge_scores(grade, reader=SYSTEM)[1] == []
    assert list(rationales(project, said, reader=SYSTEM)) == said[:1]
    assert scores_that_count(grade).count() == len(samples)

    keep_version(version=trial)
    kept = data_version(grade)
    assert kept != before
    current, earlier = judge_scores(grade, reader=SYSTEM)
    assert [one.version for one in (*current, *earlier)] == ["2", "1"]
    assert rationales(project, said, reader=SYSTEM).keys() == set(said)

    drop_version(version=first)
    assert data_version(grade) not in (kept, before)
    drop_version(version=trial)
    assert judge_scores(grade, reader=SYSTEM) == ([], [])
    assert judge_scores(grade, "plain", reader=SYSTEM) == ([], [])
    assert whole_scores(grade, reader=SYSTEM) == []
    keep_version(version=first)
    assert data_version(grade) == before


def test_the_gate_holds_the_latest_in_use_against_the_certificate() -> None:
    project, samples = graded_project(count=160)
    grade = project.criteria.get(key="grade")
    judge = plain(project)
    first = judge.versions.get()
    give_scores(first, samples)
    issue_certificate(look=look_at_test(criterion=grade, judge_name="plain"))

    def said() -> str:
        return gate(project=project, criterion_key="grade", judge_name="plain").code

    passed = said()
    assert passed == "passed"
    trial = add_version(judge=judge, config={"prompt": "two"}, state="trial")
    assert said() == passed
    assert code_of(drop_version, version=first) == "certified"
    keep_version(version=trial)
    assert said() == "judge_changed"
    drop_version(version=trial)
    assert said() == passed


def test_what_changed_is_told_field_by_field_and_line_by_line(project: Project) -> None:
    judge = plain(project, prompt="Read.\nJudge.\nAnswer.", limits={"low": 0, "high": 5}, more=[{"a": 1}, {"b": 2}])
    config = {
        "prompt": "Read.\nJudge with care.\nAnswer.\nThanks.", "limits": {"low": 0, "high": 5.0}, "more": [{"a": 1}],
    }  # fmt: skip
    newer = add_version(judge=judge, config=config)
    told = version_diff(judge.versions.get(number=1), newer, reader=SYSTEM, role=None)
    assert told.rows == [
        Difference("config.limits.high", 5, 5.0),
        Difference("config.more.1.b", 2, None),
        Difference(
            "config.prompt",
            "Read.\nJudge.\nAnswer.",
            "Read.\nJudge with care.\nAnswer.\nThanks.",
            (
                Line(" ", "Read."),
                Line("-", "Judge."),
                Line("+", "Judge with care."),
                Line(" ", "Answer."),
                Line("+", "Thanks."),
            ),
        ),
    ]
    assert version_diff(newer, newer, reader=SYSTEM, role=None).rows == []
