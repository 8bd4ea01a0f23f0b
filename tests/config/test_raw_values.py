"""No page of the demo shows a number as the machine keeps it, or a name that only the code uses: numbers are rounded to
what their interval supports, and what has a key has a name."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command, get_commands

from annotate.core.text_tables import number
from annotate.files.import_engine import importer_for
from annotate.files.import_jobs import create_job, start
from annotate.files.releases import make_release
from annotate.models import ImportJob, Project, Sample, Task, Thread, User, Verdict
from annotate.models.transfer import ImportKind
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA
from annotate.projects.criteria import add_criteria
from config.celery import app as celery_app
from judges.certificates.write import issue_certificate, look_at_test
from judges.models import Judge, Run, Score
from judges.reports.write import freeze_report
from systems.models import Response, SystemVersion
from tests.annotate.api.routes import API
from tests.clients import as_user
from tests.config.crawling import Crawl

_LONG_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{5,}")
# But for placeholders of prompts ({{key_facts}}), what canaries write (<|im_end|>) and names of files.
_NAME_IN_CODE = re.compile(r"(?<![\w/.@:{|-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w@(}|]|\.\w)")
# What is shown as code, or is typed.
_AS_CODE = {"code", "pre", "script", "style", "textarea", "template", "samp", "kbd"}
# Commands, and what the columns of a file are called that needs no mapping.
_TYPED = {*get_commands(), *(target for kind in ImportKind.values for target in importer_for(kind).fields.targets)}
_VOID = {"input", "br", "img", "meta", "link", "hr", "wbr", "source", "col"}


class _Visible(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.said += [value or "" for name, value in attrs if name in ("title", "aria-label", "placeholder", "alt")]
        if tag not in _VOID:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not _AS_CODE & set(self.inside):
            self.said.append(data)


def visible(page: str) -> str:
    reader = _Visible()
    reader.feed(page[: page.rfind("</html>")] if "</html>" in page else page)
    text = "\n".join(reader.said)
    return re.sub("|".join(rf"\b{name}\b" for name in _TYPED if "_" in name), "", text)


# They end the session, explain formulas and names, or are the API.
WITHOUT = frozenset({"/logout/", "/help/<path>/", "/help/<name>/", "/help/statistics/", *(route.path for route in API)})


@pytest.fixture(scope="module")
def _demo(module_transaction: None) -> Project:
    call_command("load_demo", small=True, verbosity=0)
    demo = Project.objects.get(slug="demo")
    alma = User.objects.get(username="alma")
    spec = {**BUILTIN_CRITERIA["fact_in_answer"], "key": "fact_in_answer", "prompt": "Is it said?"}
    add_criteria(project=demo, specs=[spec], actor=alma)
    freeze_report(criterion=demo.criteria.get(key="relevancy", is_current=True))
    support = demo.criteria.get(key="support", is_current=True)
    issue_certificate(look=look_at_test(criterion=support, judge_name="claim-checker", user=alma), user=alma)
    freeze_report(criterion=support)
    make_release(project=demo, user=alma, file_format="jsonl")
    lists = json.dumps({"id": "lists", "question": "Q?", "answer": "A.", "contexts": [{"id": "c", "text": "T"}]})
    create_job(project=demo, user=alma, kind="samples", upload=SimpleUploadedFile("lists.jsonl", lists.encode()))
    said = "sample_id,criterion,unit,annotator,value\nkb-001,relevancy,answer,zoe,3\n"
    start(create_job(project=demo, user=alma, kind="labels", upload=SimpleUploadedFile("zoe.csv", said.encode())))
    # Five of six words.
    Score.objects.filter(sample__project=demo, number__isnull=False).update(number=5 / 6)
    return demo


@pytest.fixture
def demo(_demo: Project, db: None, monkeypatch: pytest.MonkeyPatch) -> Project:
    cache.clear()
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)
    return _demo


def crawl_of(user: User) -> Crawl:
    def some(model: Any) -> list[Any]:
        return list(model.objects.order_by("pk").values_list("pk", flat=True)[:1])

    values: dict[str, Any] = {
        "slug": ["demo"], "sample_id": some(Sample), "verdict_id": some(Verdict), "task_id": some(Task),
        "number": [1, 2], "key": ["support", "fact_in_answer"], "version": [1], "run_id": some(Run),
        "judge_id": list(Judge.objects.values_list("pk", flat=True)), "trial_id": [1], "alignment_id": [1],
        "rule_id": [1], "look_id": [1], "flag_id": [1], "gold_id": [1],
        "thread_id": some(Thread),
        "job_id": list(ImportJob.objects.values_list("pk", flat=True)), "invite_id": [1], "username": ["ana"],
        "schedule_id": [1],
        "image_name": ["0" * 32],
        "link_id": [1],
        "view_id": [1],
        "question_id": [1],
        "asking_id": [1],
        "version_id": list(SystemVersion.objects.values_list("pk", flat=True)),
        "set_name": ["support"],
        "experiment_name": ["v2-or-v1"],
        "response_id": some(Response),
        "qualification_id": [1],
        "what": ["waive"],
        "of": ["units"],
        "start": ["lexical-token-overlap", "composite", "llm-rubric"], "step": ["open"], "form": ["html"],
        "name": ["model"], "token": ["no-such-invitation"], "token_id": ["ts_0123456789ab"],
    }  # fmt: skip
    return Crawl(as_user(user), values, {}, WITHOUT, each_value=False)


@pytest.mark.parametrize("name", ["alma", "remy", "ana"])
def test_no_page_shows_raw_values(demo: Project, name: str) -> None:
    found, read = set(), set()
    for told in crawl_of(User.objects.get(username=name)).everything():
        if told.status != 200 or not told.text.lstrip().startswith("<"):
            continue
        read.add(told.route)
        text = visible(told.text)
        for match in (*_LONG_NUMBER.finditer(text), *_NAME_IN_CODE.finditer(text)):
            found.add((told.route, " ".join(text[max(0, match.start() - 50) : match.end() + 30].split())))
    assert found == set(), f"{len(found)} on {len(read)} pages:\n" + "\n".join(map(str, sorted(found)))
    if name == "alma":
        assert len(read) > 50
        assert "/p/<slug>/import/<job_id>/" in read


def test_raw_values_would_be_seen() -> None:
    page = '<p title="raters_created">0.8333333333333334</p><code>made_by</code><p>fact_in_answer</p>'
    text = visible(page)
    assert _LONG_NUMBER.findall(text) == ["0.8333333333333334"]
    assert _NAME_IN_CODE.findall(text) == ["raters_created", "fact_in_answer"]
    values = (5 / 6, 0.07367, 0.69231, 2 / 3000, 0.00001234, 0.0, -0.00004, 12345.678, 3.0)
    said = ("0.8333", "0.0737", "0.6923", "0.0007", "1.2e-05", "0", "-4e-05", "12345.7", "3")
    assert tuple(number(value) for value in values) == said
