"""The published data sets come in whole, and a second time nothing changes."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from annotate.models import Criterion, Label, Project, Rater, Sample
from judges.models import Judge, Score
from tests.shared_data import shared_data


@pytest.mark.parametrize(("name", "unit"), [("mtrag_human", "answer"), ("expertqa_claims", "claim")])
def test_comes_in_whole(name: str, unit: str, db: None) -> None:
    folder = shared_data(name)
    dataset: dict[str, Any] = json.loads((folder / "dataset.json").read_text())
    counts = dataset["counts"]
    project = Project.objects.create(slug=name, name=name)
    for key, dimension in dataset["dimensions"].items():
        options = [{"value": level, "label": str(level)} for level in dimension["levels"]]
        Criterion.objects.create(
            project=project, key=key, name=key, unit=unit, scale=dimension["scale"], prompt=key, options=options
        )

    for again in (False, True):
        for command, file in [("samples", "samples"), ("labels", "human"), ("scores", "judge")]:
            out = io.StringIO()
            call_command(f"import_{command}", name, str(folder / f"{file}.jsonl"), stdout=out)
            assert f"{'created' if again else 'unchanged'} 0" in out.getvalue()

        assert Sample.objects.count() == counts["samples"]
        assert Label.objects.count() == counts["human_ratings"]
        assert Score.objects.count() == counts["judge_scores"]
        assert Rater.objects.count() == counts["raters"]
        assert Judge.objects.count() == counts["judges"]
        assert Label.objects.values("sample", "unit").distinct().count() == counts["distinct_units"]
        assert sum(len(sample.contexts) for sample in Sample.objects.all()) == counts["contexts"]

    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_bytes().split(b"\n") if line]
    found = dict(Sample.objects.values_list("external_id", "answer"))
    assert found == {row["id"]: row["answer"] for row in rows}
