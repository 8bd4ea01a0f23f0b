"""What reads what people or judges said takes its `reader`, and applies the rule of blindness itself.

Readers are the modules `read` and `…_read` of annotate, judges and systems. A function there tells what was said when
its return annotation names a type that holds it; where the annotation says too little (`Any`), it has to be listed.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from annotate.core.blindness import SYSTEM, Reader
from annotate.models import Label, Sample
from annotate.verdicts.disputes_read import Dispute
from tests.conftest import ROOT

# Rows that hold what annotators and judges said, and what the alignment module is given of them; and what tells which
# version of a system an answer or a passage came from.
TELLING = {
    "Label", "LabelEvent", "Verdict", "VerdictEvent", "GoldAnswer", "Score", "Ask", "Reply", "AlignmentReport",
    "Evidence", "JudgeScores", "Value", "ShownTasks", "ShownFlag", "VersionDiff", "ShownThread",
    "Response", "TargetAsk", "ExperimentFigures", "Judgement", "TrendLevel", "Asking", "Diagnosed",
    "Rules",
}  # fmt: skip
# A dataclass with a field of one of these names tells as well.
TELLING_FIELDS = {"value", "values", "votes", "comment", "evidence", "rationale", "said", "raw", "details"}

# Building blocks of selectors and of rules: which rows count. No page and no endpoint may import them.
BLOCKS = {
    "annotate.labels.read": {"counting_labels", "votes", "undecided_labels", "answering_labels"},
    "judges.core.scores_read": {"scores_that_count"},
}
# Told to all who have the role, whether or not they still have the sample to label. Nothing may be added.
BY_ROLE_ALONE = {
    # Without what they say.
    "judges.reports.read": {"reports_of", "overview"},
}
# Their annotations say too much or too little: they tell nothing of what others said about single units.
TELL_NOTHING = {
    # The rule of a change, and how many labels it touches.
    "annotate.batches.criterion_change_read": {"content_of", "touched_by", "given", "impact"},
    "annotate.samples.claims_read": {"batch_claims"},
    "annotate.samples.read": {"known_metadata", "metadata_of", "pipeline_versions"},
    # One's own labels.
    "annotate.tasks.read": {"read_payload", "own_task", "next_task", "following_task"},
    # Figures over all units.
    "annotate.verdicts.ground_truth_read": {"ground_truth", "imported_labels"},
    # What an address asks for.
    "annotate.verdicts.wanted_units_read": {"value_written"},
    # Claims that a model proposed, which are not judged yet.
    "judges.proposals.read": {"asked_for_claims"},
    # What looks decided, of which no unit is told.
    "judges.certificates.decision_read": {"rulings_on"},
}

# They are handed what was read for a reader.
SAY_WHAT_WAS_READ = {
    "annotate.labels.read": {"latest_per_rater", "latest_of_unit", "of_batch"},
    "annotate.labels.settled_read": {"unsettled_units"},
    "annotate.verdicts.unit_columns_read": {"unit_columns"},
    "judges.lab.units_read": {"with_words"},
}

# What they return says too little. When they forget, the crawls find it (tests/config/test_crawl.py, test_locked.py);
# the crawls have nothing of systems, whose own tests do. A task is most often one's own.
SAY_TOO_LITTLE = {
    "withheld", "require_whole", "batch_skips", "findings_of", "one_task", "without_words",
    "left_to_people", "people_behind", "locked", "locked_samples", "samples_wanted", "proposal_effect",
    "compared_units", "scored_units", "require_labelled", "require_shown",
    "without_questions_to_label", "hidden_experiments", "learned_for", "left_by_cascade", "left_of",
}  # fmt: skip

Told = Callable[..., Any]


def modules() -> Iterator[ModuleType]:
    for package in ("annotate", "judges", "systems"):
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            name = found.name.rpartition(".")[2]
            if name == "read" or name.endswith("_read"):
                yield import_module(found.name)


MODULES = list(modules())


def own(module: ModuleType) -> dict[str, Any]:
    """What is defined there and meant for others."""
    return {
        name: found
        for name, found in vars(module).items()
        if not name.startswith("_") and getattr(found, "__module__", None) == module.__name__
    }


def words(annotation: object) -> set[str]:
    return {name.rpartition(".")[2] for name in re.findall(r"[A-Za-z_][\w.]*", str(annotation))}


def telling_types() -> set[str]:
    """With the dataclasses that hold one of them, however deep."""
    found = set(TELLING)
    classes = {name: one for module in MODULES for name, one in own(module).items() if inspect.isclass(one)}
    while True:
        more = {
            name
            for name, one in classes.items()
            for field, annotation in getattr(one, "__annotations__", {}).items()
            if field in TELLING_FIELDS or words(annotation) & found
        }
        if more <= found:
            return found
        found |= more


TYPES = telling_types()


def tells(annotation: object) -> bool:
    return bool(words(annotation) & TYPES)


def functions() -> Iterator[tuple[str, str, Told]]:
    for module in MODULES:
        for name, found in own(module).items():
            if inspect.isfunction(found):
                yield module.__name__, name, found


def listed(where: dict[str, set[str]], module: str, name: str) -> bool:
    return name in where.get(module, ())


def is_given_what_was_read(function: Told) -> bool:
    """It is handed a list that has its reader, or is one of those that say in another way what was read for one."""
    given = [one.annotation for one in inspect.signature(function).parameters.values()]
    has_reader = any(
        words(one) & {"Queue", "Lessons", "Scores", "Failures", "Truth", "DiagnosedResponses", "Diagnosed"}
        for one in given
    )
    return has_reader or listed(SAY_WHAT_WAS_READ, function.__module__, function.__name__)


def takes_its_reader(function: Told) -> bool:
    reader = inspect.signature(function).parameters.get("reader")
    return reader is not None and reader.kind is reader.KEYWORD_ONLY and reader.default is reader.empty


def forgets_its_reader(module: str, name: str, function: Told) -> bool:
    return (
        tells(inspect.signature(function).return_annotation)
        and not (takes_its_reader(function) or is_given_what_was_read(function))
        and not any(listed(where, module, name) for where in (BLOCKS, BY_ROLE_ALONE, TELL_NOTHING))
    )


def test_what_tells_takes_its_reader() -> None:
    assert [f"{module}.{name}" for module, name, found in functions() if forgets_its_reader(module, name, found)] == []


def test_one_that_forgets_is_found() -> None:
    def labels_of(sample: Sample) -> list[Label]:
        return []

    def with_a_default(sample: Sample, *, reader: Reader = SYSTEM) -> list[Label]:
        return []

    def in_a_dataclass(verdict: int) -> Dispute | None:
        return None

    def told_to_a_reader(sample: Sample, *, reader: Reader) -> list[Label]:
        return []

    def tells_nothing(sample: Sample) -> int:
        return 0

    given = (labels_of, with_a_default, in_a_dataclass, told_to_a_reader, tells_nothing)
    found = [one.__name__ for one in given if forgets_its_reader("annotate.labels.read", one.__name__, one)]
    assert found == ["labels_of", "with_a_default", "in_a_dataclass"]


def without_its_reader(function: Told) -> Told:
    signature = inspect.signature(function)

    def forgetful() -> None: ...

    forgetful.__module__, forgetful.__name__ = function.__module__, function.__name__
    kept = [one for name, one in signature.parameters.items() if name != "reader"]
    forgetful.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return forgetful


def test_each_would_be_found_if_it_forgot() -> None:
    readers = [(module, name, found) for module, name, found in functions() if takes_its_reader(found)]
    assert len(readers) > 20
    missed = [name for module, name, found in readers if not is_found(module, name, without_its_reader(found))]
    assert set(missed) == SAY_TOO_LITTLE


def is_found(module: str, name: str, function: Told) -> bool:
    return forgets_its_reader(module, name, function) or could_tell(module, name, function)


def could_tell(module: str, name: str, function: Told) -> bool:
    return (
        "Any" in words(inspect.signature(function).return_annotation)
        and not (takes_its_reader(function) or is_given_what_was_read(function))
        and not (listed(TELL_NOTHING, module, name) or listed(BY_ROLE_ALONE, module, name))
    )


def test_what_could_tell_is_listed() -> None:
    unclear = [f"{module}.{name}" for module, name, function in functions() if could_tell(module, name, function)]
    assert unclear == []


def test_lists_that_are_read_piece_by_piece_have_their_reader() -> None:
    found = [one for module in MODULES for one in own(module).values() if inspect.isclass(one)]
    lazy = [one for one in found if "__getitem__" in vars(one)]
    assert {one.__name__ for one in lazy} >= {"Queue", "Lessons", "Scores"}
    for one in lazy:
        assert takes_its_reader(one), one


def test_the_lists_name_what_there_is() -> None:
    known = {(module, name) for module, name, _ in functions()}
    for where in (BLOCKS, BY_ROLE_ALONE, TELL_NOTHING):
        assert {(module, name) for module, names in where.items() for name in names} <= known


def python_files() -> list[Path]:
    """Of pages and endpoints."""
    return sorted(
        [
            *(ROOT / "frontend").rglob("*.py"),
            *(ROOT / "annotate/api").rglob("*.py"),
            *(ROOT / "judges/api").rglob("*.py"),
            *(ROOT / "systems/api").rglob("*.py"),
        ]
    )


# Counts, or rows that a selector chose for its reader.
LOOKED_AT = {
    ("frontend/adjudicate/disputes.py", "Verdict"),
    ("frontend/adjudicate/disputes.py", "Verdict"),
    ("frontend/judges/table.py", "Score"),
    ("frontend/projects/views.py", "Label"),
    ("frontend/systems/diagnosis.py", "Response"),
    ("frontend/systems/experiment_form.py", "Response"),
}


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_and_no_endpoint_goes_around_them(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = str(path.relative_to(ROOT))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            taken = {one.name for one in node.names}
            assert not taken & BLOCKS.get(node.module or "", set()), f"{name} imports {taken}"
        if isinstance(node, ast.Attribute) and node.attr == "objects" and isinstance(node.value, ast.Name):
            assert node.value.id not in TELLING or (name, node.value.id) in LOOKED_AT, (
                f"{name}: {node.value.id}.objects"
            )
