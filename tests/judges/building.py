"""Projects for the tests of judges: from a few lines, or from the shared real data."""

import hashlib
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.db import connection

from annotate.batches.declared_draws import declare_draw
from annotate.labels.consensus import settle_imported
from annotate.models import Batch, Criterion, Label, Project, Rater, Sample, Task, Verdict
from annotate.projects.write import create_project
from judges.models import Endpoint, GroupSide, Judge, JudgeVersion, Run, Score, Side
from tests.annotate.factories import GRADE, OPTIONAL, TRISTATE, World, finish, make_batch
from tests.openai_server import OpenAIServer
from tests.shared_data import shared_data


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def unsaved_endpoint(server: OpenAIServer, **fields: Any) -> Endpoint:
    """Its number is the server's port: endpoints of one number share a door."""
    return Endpoint(**{"pk": server.port, "name": "loopback", "base_url": server.url, "timeout_seconds": 5, **fields})


def make_project(slug: str = "p", *, criteria: Iterable[Mapping[str, Any] | str] = ("support",)) -> Project:
    return create_project(slug=slug, spec={"name": slug, "criteria": list(criteria)})


def stored_sides(criterion: Criterion) -> dict[str, bool]:
    """Whether each group is dev, as it is stored; groups are samples here unless a test says otherwise."""
    rows = GroupSide.objects.filter(project=criterion.project_id, criterion_key=criterion.key)
    return {group: side == Side.DEV for group, side in rows.values_list("group", "side")}


def add_samples(project: Project, names: Iterable[str], **fields: Any) -> dict[str, Sample]:
    defaults = {"question": "q", "answer": "a", "claims": [{"text": f"claim {i}"} for i in range(4)], **fields}
    Sample.objects.bulk_create(
        [
            Sample(project=project, external_id=name, content_hash=hashlib.md5(name.encode()).digest(), **defaults)
            for name in names
        ]
    )
    return {sample.external_id: sample for sample in project.samples.all()}


def add_labels(criterion: Criterion, samples: Mapping[str, Sample], rows: Iterable[tuple[str, str, str, Any]]) -> None:
    """rows: sample, unit, rater, value."""
    rows = list(rows)
    names = {name for _, _, name, _ in rows}
    raters = {name: Rater.objects.get_or_create(project=criterion.project, name=name)[0] for name in names}
    Label.objects.bulk_create(
        [
            Label(rater=raters[rater], sample=samples[sample], unit=unit, criterion=criterion, value=value)
            for sample, unit, rater, value in rows
        ]
    )


def one_label_settles(*criteria: Criterion) -> None:
    """By an admin's word: of these criteria a label by one person, made elsewhere, is what judges are compared with."""
    for criterion in criteria:
        settle_imported(project=criterion.project, criterion=criterion, needed=1)


def drawn_in_full(*criteria: Criterion) -> None:
    """By an admin's word: the labels made elsewhere are of all samples there were."""
    for criterion in criteria:
        declare_draw(criterion=criterion, how="all")


def add_judge(
    project: Project,
    name: str,
    samples: Mapping[str, Sample],
    rows: Iterable[tuple[str, str, Any]],
    *,
    dimension: str = "support",
    label: str = "1",
    rationale: str = "",
    **fields: Any,
) -> JudgeVersion:
    """A judge with one version, or another version of one that is there, and scores: see `add_scores`."""
    judge, _ = Judge.objects.get_or_create(project=project, name=name, defaults=fields)
    version, _ = JudgeVersion.objects.get_or_create(
        judge=judge, label=label, defaults={"number": judge.versions.count() + 1, "content_hash": label}
    )
    add_scores(version, samples, rows, dimension=dimension, rationale=rationale)
    return version


def add_scores(
    version: JudgeVersion,
    samples: Mapping[str, Sample],
    rows: Iterable[tuple[str, str, Any]],
    *,
    dimension: str = "support",
    rationale: str = "",
) -> None:
    """rows: sample, unit, and a number, a label, or None for a failed score."""
    run = Run.objects.create(version=version)
    Score.objects.bulk_create(
        [
            Score(
                version=version,
                run=run,
                sample=samples[sample],
                unit=unit,
                dimension=dimension,
                status="error" if value is None else "ok",
                number=None if isinstance(value, str) else value,
                label=value if isinstance(value, str) else None,
                rationale=rationale,
            )
            for sample, unit, value in rows
        ]
    )


def shared_project(name: str, *, unit: str, passes: Mapping[str, list[Any]]) -> Project:
    """A project with everything of one of the shared data sets."""
    folder = shared_data(name)
    facts = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    project = make_project(
        name.replace("_", "-"),
        criteria=[
            {
                "key": key,
                "unit": unit,
                "scale": about["scale"],
                "prompt": key,
                "options": [{"value": level} for level in about["levels"]],
                "pass": passes.get(key, []),
            }
            for key, about in facts["dimensions"].items()
        ],
    )
    human = read_jsonl(folder / "human.jsonl")
    claims: dict[str, list[dict[str, Any]]] = {}
    for row in human:
        if row["unit"].startswith("claim:"):
            listed, index = claims.setdefault(row["sample_id"], []), int(row["unit"].split(":")[1])
            listed.extend({"text": ""} for _ in range(index + 1 - len(listed)))
            listed[index] = {"text": row["unit_text"]}
    Sample.objects.bulk_create(
        [
            Sample(
                project=project,
                external_id=row["id"],
                question=row["question"],
                answer=row["answer"],
                claims=claims.get(row["id"], []),
                content_hash=b"0" * 16,
            )
            for row in read_jsonl(folder / "samples.jsonl")
        ]
    )
    samples = {sample.external_id: sample for sample in project.samples.all()}
    for criterion in project.criteria.all():
        rows = [row for row in human if row["dimension"] == criterion.key]
        add_labels(criterion, samples, [(r["sample_id"], r["unit"], r["rater"], r["value"]) for r in rows])
    scores: dict[tuple[str, str], list[tuple[str, str, Any]]] = {}
    for row in read_jsonl(folder / "judge.jsonl"):
        scores.setdefault((row["judge"], row["dimension"]), []).append((row["sample_id"], row["unit"], row["score"]))
    for (judge, dimension), judged in scores.items():
        add_judge(project, judge, samples, judged, dimension=dimension)
    tell_the_planner()
    return project


def tell_the_planner() -> None:
    """Of rows that were written in bulk: as an import does, and else only autovacuum, at any time."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotate_sample, annotate_label, annotate_labelevent, annotate_task, judges_score")


def settle_all(project: Project) -> None:
    """Decides every unit that has labels, where they don't agree in some way."""
    for criterion in project.criteria.filter(is_current=True):
        settle_imported(project=project, criterion=criterion, needed=1)
        for verdict in Verdict.objects.filter(criterion=criterion, state="disputed"):
            verdict.state, verdict.method, verdict.value = "settled", "majority", verdict.votes[0]["value"]
            verdict.confidence = verdict.agreement
            verdict.save()


GRADES = (1, 5, 4, 2, 5, 3, 4, 1)


def graded_project(slug: str = "desk", *, count: int = 32) -> tuple[Project, dict[str, Sample]]:
    """Two people's grades from 1 to 5 (4 and 5 pass) of all `count` answers; Ben is one grade off in every fifth."""
    project = make_project(slug, criteria=[TRISTATE, GRADE, OPTIONAL])
    samples = add_samples(project, [f"s{place:02}" for place in range(count)])
    grades = {name: GRADES[place % len(GRADES)] for place, name in enumerate(samples)}
    rows = [(name, "answer", "ann", grade) for name, grade in grades.items()]
    rows += [
        (name, "answer", "ben", min(5, grade + 1) if place % 5 == 0 else grade)
        for place, (name, grade) in enumerate(grades.items())
    ]
    grade = project.criteria.get(key="grade")
    add_labels(grade, samples, rows)
    if rows:
        drawn_in_full(grade)
    return project, samples


def scores_like(samples: Iterable[str], *, wrong_every: int = 7) -> list[tuple[str, str, float]]:
    """Scores between 0 and 1 that follow the grades of `graded_project`, turned round in every seventh sample."""
    scores = []
    for place, name in enumerate(samples):
        score = GRADES[place % len(GRADES)] / 5
        scores.append((name, "answer", 1 - score if place % wrong_every == 0 else score))
    return scores


CLICKED = 66


def clicked_world(world: World) -> Batch:
    """90 answers that two people graded alike, a judge that is wrong on every sixth, and 66 more that Chen alone
    graded, without reading: always the first key."""
    rng = random.Random(15)
    samples = add_samples(world.project, [f"s{place:03}" for place in range(90 + CLICKED)])
    names = list(samples)
    good = {name: rng.random() < 0.5 for name in names}
    (grade,) = world.criteria("grade")
    rows = [(name, "answer", rater, 5 if good[name] else 1) for name in names[:90] for rater in ("first", "second")]
    add_labels(grade, samples, rows)
    scores = [(name, "answer", float(good[name] if place % 6 else not good[name])) for place, name in enumerate(names)]
    add_judge(world.project, "judge", samples, scores, dimension="grade")
    batch = make_batch(world.project, [world.chen], criteria=[grade], samples=names[90:], overlap=1)
    for task in Task.objects.filter(batch=batch).select_related("annotator", "sample", "batch"):
        finish(task, grade=5)
    tell_the_planner()
    return batch
