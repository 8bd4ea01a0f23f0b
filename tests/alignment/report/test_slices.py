"""Parts of the data: kappas of scikit-learn, a bad part that is found, and keys that tell nothing apart."""

from dataclasses import replace

import pytest
from sklearn.metrics import cohen_kappa_score

from alignment.base.estimate import remark
from alignment.report import JudgeScores
from alignment.report.slices import MAX_KEYS, MAX_SLICES, NO_KEY, NO_METADATA, judge_slices
from tests.alignment.report.building import KINDS, compared, evidence


def with_metadata(found, keys):
    samples = sorted(found.is_dev)
    return replace(
        found,
        metadata={
            sample: {key: value for key, of in keys.items() if (value := of(place)) is not None}
            for place, sample in enumerate(samples)
        },
    )


def language(place):
    return ("en", "de", "fr")[place // 2 % 3]


def test_each_part_by_scikit_learn():
    found = with_metadata(evidence(), {"language": language})
    reference, one = compared(found)
    shown = judge_slices(reference, one)
    assert (shown["reason"], shown["tested"], shown["skipped"]) == (None, 3, [])
    assert [(part["key"], part["value"]) for part in shown["slices"]] == [
        ("language", each) for each in ("de", "en", "fr")
    ]
    for part in shown["slices"]:
        parted = {True: [], False: []}
        for unit, passes in one.decisions.items():
            here = found.metadata[unit[0]]["language"] == part["value"]
            parted[here].append((reference.positive[unit], passes))
        kappa = {here: cohen_kappa_score(*zip(*rows, strict=True)) for here, rows in parted.items()}
        assert part["n"] == len(parted[True])
        assert part["kappa"] == pytest.approx(kappa[True])
        assert part["difference"]["value"] == pytest.approx(kappa[True] - kappa[False])
        assert part["tpr"] == pytest.approx(
            sum(judge for human, judge in parted[True] if human) / sum(human for human, _ in parted[True])
        )


def test_a_bad_part_is_called_worse():
    found = with_metadata(evidence(300, judge_right=0.95), {"language": language})
    judge = found.judges[0]
    turned = {
        unit: 1 - score if found.metadata[unit[0]]["language"] == "fr" and unit[1] == "claim:0" else score
        for unit, score in judge.numbers.items()
    }
    found = replace(found, judges=[replace(judge, numbers=turned)])
    worse = {part["value"]: part["worse"] for part in judge_slices(*compared(found))["slices"]}
    assert worse == {"de": False, "en": False, "fr": True}


def test_keys_that_tell_nothing_apart_are_named():
    keys = {
        "id": str,
        "always": lambda place: "x",
        "rare": lambda place: f"r{place // 2 % 15}",
        "half": lambda place: True if place % 4 < 2 else None,
        "tail": lambda place: "rare" if place < 6 else "usual" if place < 80 else "other",
    }
    shown = judge_slices(*compared(with_metadata(evidence(), keys)))
    assert {one["key"]: one["reason"] for one in shown["skipped"]} == {
        "id": remark("many_values", n=20),
        "always": remark("same_value_everywhere"),
        "rare": remark("no_large_value", n=10),
        "half": remark("same_value_everywhere"),
    }
    # Three samples of dev are too few to be a part of their own; they stay in the rest of the others.
    assert [part["value"] for part in shown["slices"]] == ["other", "usual"]


def test_there_is_an_end_to_parts():
    keys = {f"k{number:02}": (lambda place, n=number: f"v{(place // 2 + n) % 5}") for number in range(12)}
    shown = judge_slices(*compared(with_metadata(evidence(), keys)))
    assert len({part["key"] for part in shown["slices"]}) == MAX_KEYS
    assert (len(shown["slices"]), shown["skipped_in_all"]) == (40, 4)
    assert [one["reason"] for one in shown["skipped"]] == [remark("enough_others")] * 4
    wide = {f"k{number}": (lambda place, n=number: f"v{(place // 2 + n) % 16}") for number in range(5)}
    many = judge_slices(*compared(with_metadata(evidence(400, claims=1), wide)))
    assert len(many["slices"]) == 48 <= MAX_SLICES


def test_without_metadata_without_keys_and_without_passes():
    assert judge_slices(*compared(evidence()))["reason"] == NO_METADATA
    assert judge_slices(*compared(with_metadata(evidence(), {"id": str})))["reason"] == NO_KEY
    labels = evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={})
    assert judge_slices(*compared(labels))["reason"] == remark("no_passes")
    silent = with_metadata(evidence(judges=[JudgeScores("silent", "1", "ok", True)]), {"language": language})
    assert judge_slices(*compared(silent))["reason"] == remark("no_scores")
