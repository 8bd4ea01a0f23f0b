"""Judges as the Python files that are exported of them, executed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from django.conf import settings

from annotate.models import Project, Sample
from judges.exports.python import as_python
from judges.kinds.llm.prompt import Prompt, value_of
from judges.models import Judge, JudgeVersion


def version_of(config: Mapping[str, Any], name: str = "A judge") -> JudgeVersion:
    judge = Judge(pk=1, name=name, kind="llm", project=Project(slug="p"))
    return JudgeVersion(judge=judge, number=1, label="1", config=dict(config), content_hash="0" * 64)


def without_criterion(config: Mapping[str, Any]) -> dict[str, Any]:
    """The same questions, with the criterion unknown to the export: it is looked up in the database."""
    return {**config, "criterion": None}


def core_of(version: JudgeVersion) -> str:
    """The file without what belongs to a library."""
    source = as_python(version, "mlflow")
    return source[: source.index("\n\n\nos.environ.setdefault(")]


def executed(source: str) -> dict[str, Any]:
    """What the file defines."""
    module = ModuleType("exported_judge")
    sys.modules[module.__name__] = module
    exec(compile(source, "exported_judge.py", "exec"), module.__dict__)
    return module.__dict__


@contextmanager
def told_of(url: str) -> Iterator[None]:
    """Where the endpoint is; and this installation's secret, so that the marks around texts are the same."""
    told = {"JUDGE_BASE_URL": url, "JUDGE_MARKS_SECRET": settings.SECRET_KEY}
    os.environ.update(told)
    try:
        yield
    finally:
        # What a file sets for its library stays set, as in a process of its own.
        for name in told:
            del os.environ[name]


def texts_of(config: Mapping[str, Any], sample: Sample, unit: str) -> dict[str, Any]:
    """What the prompt shows of a unit."""
    return {name: value_of(name, sample, unit) for name in Prompt(config).shown}
