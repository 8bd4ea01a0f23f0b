"""No reply that an annotator gets tells which version of a system gave an answer, nor an id that ends with one."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.core.cache import cache
from django.db.models import F, Value
from django.db.models.functions import Concat

from annotate.models import Batch, Sample, Task, Thread
from config.celery import app as celery_app
from tests.annotate.api.conftest import Both, _both
from tests.clients import as_user
from tests.config.crawling import Crawl
from tests.config.test_crawl import QUERIES, WITHOUT

VERSION = "vqx7"


@pytest.fixture(scope="module")
def _versioned(module_transaction: None) -> Both:
    """Something of everything, and every sample is an answer of this version."""
    both = _both()
    Sample.objects.update(
        pipeline_version=VERSION, external_id=Concat(F("external_id"), Value(f"@{VERSION}")), group_key=F("external_id")
    )
    return both


@pytest.fixture
def both(_versioned: Both, db: None, monkeypatch: pytest.MonkeyPatch) -> Both:
    cache.clear()
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)
    return copy.deepcopy(_versioned)


def crawl_of(both: Both, username: str) -> Crawl:
    values: dict[str, Any] = {name: [value] for name, value in both.own.items()}
    project = both.world.project
    values |= {
        "sample_id": list(Sample.objects.filter(project=project).values_list("pk", flat=True)),
        "task_id": list(Task.objects.filter(annotator__username=username).values_list("pk", flat=True)),
        "number": list(Batch.objects.filter(project=project).values_list("number", flat=True)),
        "thread_id": list(Thread.objects.values_list("pk", flat=True)),
        "version": [1],
        "of": ["samples", "units"],
        "what": ["waive"],
        "token": ["no-such-invitation"],
        "start": ["lexical-token-overlap"],
    }
    return Crawl(as_user(getattr(both.world, username)), values, QUERIES, WITHOUT, each_value=False)


@pytest.mark.parametrize("username", ["ann", "ben"])
def test_an_annotator_never_learns_a_version(both: Both, username: str) -> None:
    told = list(crawl_of(both, username).everything())
    # They were shown what they label, and what they labelled.
    assert any("It opens at nine" in one.text for one in told)
    found = {
        one.url: one.text[max(0, at - 100) : at + 40]
        for one in told
        if (at := one.text.replace(one.url, "").find(VERSION)) >= 0
    }
    assert found == {}


def test_a_reviewer_does(both: Both) -> None:
    """So the version would be found."""
    crawl = crawl_of(both, "rita")
    assert any(VERSION in one.text for one in crawl.everything())
