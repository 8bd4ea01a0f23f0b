"""Reports of before compared judges with all that people labelled, and now say so, with how many units of theirs rest
on one label. What else is asked since has no answer in them."""

import gzip
import json
from collections import Counter

from django.db import migrations


def _rewrite(apps, schema_editor):
    reports = apps.get_model("judges", "AlignmentReport").objects
    rows = reports.order_by("pk").values_list("pk", "parameters", "result", "evidence")
    for pk, parameters, result, evidence in rows.iterator(chunk_size=1):
        found = _asked_since(result, evidence)
        reports.filter(pk=pk).update(parameters={**parameters, "labels": "all"}, result=found)


def _asked_since(result, evidence):
    reference = result.get("reference")
    if not isinstance(reference, dict):
        return result
    single = reference["single_labels"] if "single_labels" in reference else _alone(evidence)
    judges = [
        {**judge, "at_threshold": {**judge["at_threshold"], "left_out": None}} if "at_threshold" in judge else judge
        for judge in result.get("judges", [])
    ]
    rests_on = {
        "settled_only": False,
        "single_labels": single,
        "unsettled": {"single": single, "elsewhere": 0, "open": 0},
        "declared": [],
    }
    return {**result, "reference": {**reference, **rests_on}, "judges": judges, "too_fast": None}


def _alone(evidence):
    """How many units have one label and no verdict."""
    found = json.loads(gzip.decompress(evidence))
    units, settled = (
        list(zip(found[name]["sample"], found[name]["unit"], strict=True)) for name in ("ratings", "verdicts")
    )
    labels, settled = Counter(units), set(settled)
    return sum(count == 1 and unit not in settled for unit, count in labels.items())


class Migration(migrations.Migration):
    dependencies = [("judges", "0003_findings")]
    operations = [migrations.RunPython(_rewrite, migrations.RunPython.noop)]
