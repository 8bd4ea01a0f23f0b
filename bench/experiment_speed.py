"""How long an experiment's figures take, and its pages from what is frozen.

    python -m bench.experiment_speed [--questions 5000] [--labelled 1000]

Three versions asked all questions; 8 metrics: what judges say of claims, contexts and the answer in two ways, which
people have said of the answers to some drawn questions, and four that are measured. People's word comes from a file of
two raters, so that it counts for the drawn answers as if they had labelled their batch. The worker's own process is
this one; what is loaded once per process is timed apart.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

import numpy as np

from bench.import_speed import peak_mib
from bench.stage import figure, heading, import_rows, own_services, pages, session_of, web

SEED = 20260901
VERSIONS = ("v1", "v2", "v3")
CLAIMS, CONTEXTS = 3, 5
UNITS = {
    "support": [f"claim:{number}" for number in range(CLAIMS)],
    "use": [f"context:{number}" for number in range(CONTEXTS)],
    "answers": ["answer"],
    "grade": ["answer"],
}
CRITERIA = [
    *(
        {
            "key": key,
            "unit": unit,
            "scale": "nominal",
            "prompt": "Is it?",
            "options": [{"value": "yes"}, {"value": "no"}],
            "pass": ["yes"],
        }
        for key, unit in (("support", "claim"), ("use", "context"), ("answers", "answer"))
    ),
    {
        "key": "grade",
        "unit": "answer",
        "scale": "ordinal",
        "prompt": "How good?",
        "options": [{"value": value} for value in range(1, 6)],
        "pass": [4, 5],
    },
]
EXPERIMENT = {
    "set": "asked@1",
    "versions": list(VERSIONS),
    "metrics": [
        {"derived": "faithfulness", "criterion": "support", "judge": "judge"},
        {"derived": "retrieved_precision", "criterion": "use", "judge": "judge"},
        {"criterion": "answers", "judge": "judge"},
        {"criterion": "grade", "judge": "judge"},
        *({"field": name} for name in ("latency_ms", "output_tokens", "cost", "answered")),
    ],
    "rule": {"primary": "faithfulness", "margin": 0.05, "guards": [{"metric": "latency_ms", "margin": 100}]},
}


def questions(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {"id": f"q{number}", "question": f"What does rule {number} say?"}


def responses(count: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for version in VERSIONS:
        for number in range(count):
            claims = [f"Rule {number} says {claim} in version {version}." for claim in range(CLAIMS)]
            yield {
                "question_id": f"q{number}",
                "pipeline_version": version,
                "answer": " ".join(claims),
                "claims": claims,
                "contexts": [
                    {"id": f"d{at}", "text": f"Document {at} of rule {number}. " * 5} for at in range(CONTEXTS)
                ],
                "latency_ms": int(rng.gamma(9, 100)),
                "output_tokens": int(rng.gamma(9, 20)),
                "cost": round(float(rng.gamma(9, 0.0002)), 6),
            }


def scores(count: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for version in VERSIONS:
        for number in range(count):
            for criterion, units in UNITS.items():
                for unit in units:
                    yield {
                        "sample_id": f"q{number}@{version}",
                        "unit": unit,
                        "criterion": criterion,
                        "judge": "judge",
                        "score": round(float(rng.beta(4, 2)), 3) if criterion == "grade" else int(rng.random() < 0.7),
                    }


def labels(names: Sequence[str], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for name in names:
        for criterion, units in UNITS.items():
            for unit in units:
                value = int(rng.integers(1, 6)) if criterion == "grade" else "yes" if rng.random() < 0.7 else "no"
                for rater in ("rater 1", "rater 2"):
                    yield {"sample_id": name, "unit": unit, "criterion": criterion, "rater": rater, "value": value}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--labelled", type=int, default=1000, help="responses that people have labelled")
    asked = parser.parse_args()
    with own_services() as folder:
        from django.core.management import call_command
        from django.db import connection

        from annotate.models import Batch, User
        from annotate.models.project import Role
        from annotate.projects.write import create_project, set_member
        from systems.experiments.draw import draw_labels
        from systems.experiments.write import create_experiment

        project = create_project(slug="experiments", spec={"name": "Experiments", "criteria": CRITERIA})
        admin, annotator = (User.objects.create_user(name) for name in ("admin", "annotator"))
        set_member(project=project, user=admin, role=Role.ADMIN)
        set_member(project=project, user=annotator, role=Role.ANNOTATOR)
        rng = np.random.default_rng(SEED)
        path = folder / "questions.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in questions(asked.questions)), encoding="utf-8")
        call_command("import_questions", project.slug, "asked", str(path), stdout=StringIO())
        call_command("freeze_set", project.slug, "asked", stdout=StringIO())
        import_rows(project, "samples", responses(asked.questions, rng), folder)
        import_rows(project, "scores", scores(asked.questions, rng), folder)
        experiment = create_experiment(actor=None, project=project, name="speed", said=EXPERIMENT).experiment
        draw_labels(actor=None, experiment=experiment, questions=round(asked.labelled / len(VERSIONS)), seed=1)
        drawn = list(Batch.objects.get().samples.values_list("external_id", flat=True))
        import_rows(project, "labels", labels(drawn, rng), folder)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        heading(
            f"{len(VERSIONS)} versions, {asked.questions:,} questions, {len(EXPERIMENT['metrics'])} metrics, "
            f"{len(drawn):,} labelled responses"
        )
        _freeze(experiment)
        with web() as running:
            session, under = session_of(admin), "/p/experiments/systems/experiments/"
            pages(running, session, under, ("speed/", "speed.html", "speed.md", "speed.json"))
            # Of the data as they are, and not of what is frozen.
            pages(running, session, under, ("speed/questions/",), aim="")


def _freeze(experiment: Any) -> None:
    began = time.perf_counter()
    import alignment
    from systems.experiments.figures import freeze_figures
    from systems.models import ExperimentFigures

    assert alignment.experiment_figures
    figure("load the statistics", f"{time.perf_counter() - began:.2f} s")
    for name in ("first figures of a process", "second"):
        ExperimentFigures.objects.all().delete()
        began, busy = time.perf_counter(), time.process_time()
        found = freeze_figures(experiment=experiment)
        clock, spent = time.perf_counter() - began, time.process_time() - busy
        figure(name, f"{clock:.2f} s ({spent:.2f} s of processors)", "3 s")
    labelled = [level["labelled"] for level in found.result["metrics"][0]["levels"]]
    figure("frozen", f"{len(str(found.result)) / 1000:,.0f} kB, labelled {labelled}")
    figure("peak memory", f"{peak_mib():,.0f} MiB", "600 MiB")


if __name__ == "__main__":
    main()
