"""No reply of any route tells a person what they must not know yet (annotate.core.blindness): pages, the links and
queries that they offer, endpoints with what they can be asked, downloads, and what is inside of them.

It goes by the URLconf, so a new route fails until it has values for its parameters. And each selector that is asked on
behalf of a person is made to forget them, one after the other: then the crawl has to find something.
"""

from __future__ import annotations

import copy
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.cache import cache
from django.db import connection

from annotate.core.blindness import SYSTEM, Reader
from annotate.models import (
    AuditSchedule,
    Batch,
    Flag,
    GoldAnswer,
    ImportJob,
    Invite,
    Release,
    Sample,
    Task,
    Thread,
    User,
    Verdict,
)
from annotate.verdicts.queue_sql import STATES
from config.celery import app as celery_app
from judges.core.scores_read import rationales
from judges.core.split import sides_of
from judges.models import Alignment, AlignmentReport, CascadeLook, Judge, JudgeVersion, Rule, Run, Trial
from judges.reports.mistakes_kept import Series, find_mistakes
from systems.models import Response
from tests.annotate.factories import make_batch
from tests.clients import as_user
from tests.config.crawling import Address, Crawl, Told
from tests.config.hidden_world import (
    ANNOTATORS,
    DISPUTED,
    ELSEWHERE,
    NUMBER,
    OPEN,
    SETTLED,
    SLUG,
    UNDECIDED,
    UNTOUCHED,
    Hidden,
    hidden_world,
)
from tests.config.test_readers import takes_its_reader

SAMPLE = "(?:{})".format("|".join([*SETTLED, *UNDECIDED]))
NOT_DECIDED = "(?:{})".format("|".join(UNDECIDED))
# What people, and judges, said of a sample (tests.config.hidden_world).
PEOPLES = (
    r"(?:Remarked of|Skipped, for|Flagged that|Returned since|Resolved that|Reasoned of|Known of|Exampled of"
    r"|Asked of|Answered of) "
)
JUDGES = r"(?:Judged of|Failed of|Replied of) "
# However it is rounded; no fraction of a time, such as 01:38:10.713973.
NUMBERS = rf"(?<!\d){re.escape(f'{NUMBER:.3f}')}\d*|{re.escape(f'{100 * NUMBER:.1f}')}\d* ?%"
# Of a run that has few scores.
FINDINGS = r'"no_citation": ?\d|No citation: '
NAMES = "|".join((*ANNOTATORS, *ELSEWHERE))
VALUES = "v-supported|v-contradicted"

P, A = "/p/<slug>", "/api/projects/<slug>"
# Where a reviewer reads who works on what: there no word of theirs may stand, and no value.
WHO_WORKS = {
    f"{P}/batches/<number>/", f"{P}/batches/<number>/progress/", f"{P}/batches/<number>/tasks/",
    f"{P}/batches/<number>/tasks/<task_id>/return/", f"{A}/batches/", f"{A}/batches/<number>/",
    f"{A}/batches/<number>/tasks/", f"{A}/batches/<number>/quality/",
}  # fmt: skip
# Of figures over many units; single numbers stand there as thresholds.
FIGURES = (f"{P}/reports/", f"{A}/reports/", f"{A}/criteria/<key>/alignment/")
# Where what a judge said is told, in words of its own: there no sample may be named that is not decided. Of a check
# with canaries it is told which samples it asks about.
OF_JUDGES = (
    *FIGURES,
    f"{P}/judges/",
    f"{A}/judges/",
    f"{A}/looks/",
    f"{A}/certificates/",
    f"{A}/apply/",
    f"{A}/gate/",
    f"{A}/criteria/<key>/draws/",
)
# In place of the figures of a check.
NOT_SHOWN = "Shown once you have labelled and decided its samples"
# They end the session, or answer with what they were asked.
WITHOUT = frozenset({"/logout/"})

# Of each parameter of a query, values that there could be.
QUERIES = {
    "annotator": ["zann"], "batch": ["1"], "criterion": ["support"], "cursor": ["x"], "dimension": ["grade"],
    "exclude": ["1"], "judge": ["scorer", "labeller"], "kind": ["label", "entry"], "limit": ["100"],
    "min_kappa": ["0.1"], "newer": ["2"], "offset": ["0", "100"], "older": ["1"], "order": ["sample"],
    "person": ["zann"], "pipeline": ["v7"], "sample": [DISPUTED], "search": ["undecided"], "seed": ["1"],
    "share": ["50"], "since": ["2020-01-01"], "state": [*STATES, "resolved"], "until": ["2100-01-01"],
    "status": ["skipped", "returned", "disputed", "resolved", "reopened", "in_progress"], "to_set_again": ["true"],
    "method": ["majority"], "guidelines": ["older"], "value": ["v-supported"], "of": ["units"], "to": ["json", "ragas"],
    "labels": ["all", "settled"], "agreement": ["agree", "disagree"], "metadata": ["tier=gold"],
    "sort": ["agreement"], "set": ["support"], "question": ["q1"], "version": ["v7"],
    "by": ["judges", "top_k"], "stage": ["undecided"], "k": ["3"], "rel": ["2"], "metric": ["AP"],
}  # fmt: skip


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Hidden:
    world = hidden_world()
    # As autovacuum does: of rows that are not committed it may have said that there are none.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return world


@pytest.fixture
def world(_world: Hidden, db: None, monkeypatch: pytest.MonkeyPatch) -> Hidden:
    cache.clear()
    monkeypatch.setattr(celery_app, "send_task", lambda *_, **__: None)
    return copy.deepcopy(_world)


def on_dev(world: Hidden) -> str:
    """The first of the settled samples of which it may be known what judges said."""
    sides = [sides_of(world.criterion(key), SETTLED) for key in ("support", "grade")]
    return next(name for name in SETTLED if all(is_dev[name] for is_dev in sides))


def keep_mistakes(world: Hidden) -> None:
    """What a judge gets wrong, as somebody found it who has nothing to label and may know all."""
    of = Judge.objects.get(project=world.project, name="scorer")
    find_mistakes(Series(world.criterion("grade"), of, "grade"), world.users["aldo"])


def crawl_of(world: Hidden, name: str) -> Crawl:
    """About everything in the project, but few of the settled samples."""
    keep_mistakes(world)
    samples = Sample.objects.filter(external_id__in=[*UNDECIDED, on_dev(world)])
    numbers = [
        *Batch.objects.values_list("number", flat=True), *Release.objects.values_list("number", flat=True),
        *AlignmentReport.objects.values_list("number", flat=True),
        *JudgeVersion.objects.values_list("number", flat=True),
    ]  # fmt: skip
    verdicts = Verdict.objects.filter(sample__external_id__in=UNDECIDED)
    values: dict[str, Any] = {
        "slug": [SLUG],
        "sample_id": list(samples.values_list("pk", flat=True)),
        "verdict_id": [*verdicts.values_list("pk", flat=True), Verdict.objects.exclude(pk__in=verdicts).first().pk],
        "task_id": list(Task.objects.exclude(annotator__username="zchen").values_list("pk", flat=True))[:12],
        "number": sorted(set(numbers)),
        "key": ["support", "grade"],
        "version": [1],
        "judge_id": list(Judge.objects.values_list("pk", flat=True)),
        "run_id": list(Run.objects.values_list("pk", flat=True)),
        "trial_id": list(Trial.objects.values_list("pk", flat=True)),
        "alignment_id": list(Alignment.objects.values_list("pk", flat=True)),
        "look_id": list(CascadeLook.objects.values_list("pk", flat=True)),
        "rule_id": list(Rule.objects.values_list("pk", flat=True)),
        "flag_id": list(Flag.objects.values_list("pk", flat=True)),
        "thread_id": list(Thread.objects.values_list("pk", flat=True)),
        "gold_id": list(GoldAnswer.objects.values_list("pk", flat=True)),
        "job_id": [*ImportJob.objects.values_list("pk", flat=True), "00000000-0000-4000-8000-000000000000"],
        "invite_id": [*Invite.objects.values_list("pk", flat=True), 1],
        "link_id": [1],
        "view_id": [1],
        "of": ["samples", "units"],
        "qualification_id": [1],
        "what": ["waive"],
        "question_id": [1],
        "version_id": [1],
        "asking_id": [1],
        "set_name": ["support"],
        "experiment_name": ["v2-or-v1"],
        "response_id": list(Response.objects.values_list("pk", flat=True)) or [1],
        "schedule_id": list(AuditSchedule.objects.values_list("pk", flat=True)),
        "image_name": ["0" * 32],
        "username": ["zann"],
        "name": ["model", "statistics"],
        "start": ["lexical-token-overlap"],
        "step": ["open", "cancel"],
        "form": ["html", "json", "pdf", "zip"],
        "token": ["no-such-invitation"],
        "token_id": ["ts_0123456789ab"],
    }
    return Crawl(as_user(world.users[name]), values, QUERIES, WITHOUT)


def posts_of(world: Hidden) -> list[tuple[str, dict[str, Any]]]:
    """Those that answer with what is there."""
    api = f"/api/projects/{SLUG}"
    draws = [
        {"by": "worth", "count": 2, "seed": 1},
        {"by": "worth", "count": 2, "judge": "scorer", "seed": 1},
        *({"by": "outcomes", "judge": "scorer", "threshold": at, "passes": 1, "seed": 1} for at in (0.1, 0.7, 0.9)),
    ]
    found = [(f"{api}/criteria/{key}/draws/", one) for key in ("grade", "support") for one in draws]
    found += [(f"{api}/apply/", {"criterion": "grade", "judge": "scorer", "pipeline": "v7"})]
    accept: list[dict[str, Any]] = [{"agreement": 0.6}, {"method": "dawid_skene", "criterion": "support"}]
    found += [(f"{api}/disputes/accept/", {**one, "dry_run": True}) for one in accept]
    verdicts = Verdict.objects.filter(sample__external_id__in=UNDECIDED)
    found += [(f"{api}/disputes/{one.pk}/return/", {"annotator": "Z", "message": "Why?"}) for one in verdicts]
    return found


Check = Callable[[Told], "re.Match[str] | None"]


def leak_to_a_reviewer(told: Told) -> re.Match[str] | None:
    """Who said what; and what judges said of what is not decided."""
    wrong = [JUDGES + NOT_DECIDED, FINDINGS]
    if not told.route.startswith(FIGURES):
        wrong.append(NUMBERS)
    if told.route.startswith(OF_JUDGES) and "/canaries/" not in told.route:
        wrong.append(NOT_DECIDED)
    # Figures of one sample.
    if "/canaries/" in told.route:
        wrong.append(r'"samples":1,"units":1|1 sample\b[\s\S]*Result')
    if told.route == f"{P}/judges/<judge_id>/canaries/" and told.status == 200 and NOT_SHOWN not in told.text:
        wrong.append(r"Test \d")
    # Why someone skipped a sample is no vote on it.
    words = PEOPLES.replace("Skipped, for|", "")
    wrong.append(f"{words}{NOT_DECIDED}|{VALUES}" if told.route in WHO_WORKS else NAMES)
    # A page of refusal leads back to where it was asked for.
    return re.search("|".join(wrong), told.text.replace(urlsplit(told.url).path, ""))


def leak_to_an_annotator(told: Told) -> re.Match[str] | None:
    """What anybody said of anything: it is all theirs to label."""
    wrong = [PEOPLES + SAMPLE, JUDGES + SAMPLE, FINDINGS]
    if not told.route.startswith(FIGURES):
        wrong.append(NUMBERS)
    return re.search("|".join(wrong), told.text)


def assert_nothing(world: Hidden, name: str, check: Check) -> list[Told]:
    read, found = [], []
    for told in told_to(world, name):
        assert told.status < 500, told.url
        read.append(told)
        leak = check(told)
        if leak:
            start = max(0, leak.start() - 150)
            found.append(f"{told.url} ({told.status}): …{told.text[start : leak.end() + 60]}…")
    assert found == [], f"{len(found)} of {len(read)} replies:\n\n" + "\n\n".join(found[:40])
    return read


def test_a_reviewer_learns_neither_names_nor_judges(world: Hidden) -> None:
    read = assert_nothing(world, "rita", leak_to_a_reviewer)
    # What they may know is there, so that it would be seen.
    text = "\n".join(told.text for told in read)
    for wanted in (f"Remarked of {DISPUTED}", f"Judged of {on_dev(world)}", "v-contradicted", "zann"):
        assert wanted in text, wanted


@pytest.mark.parametrize("name", ["zchen", "alice"])
def test_who_has_everything_to_label_learns_nothing(world: Hidden, name: str) -> None:
    give_everything(world, name)
    assert_nothing(world, name, leak_to_an_annotator)


def give_everything(world: Hidden, name: str) -> None:
    make_batch(world.project, [world.users[name]], criteria=[world.criterion("grade")], name="Again")


# Each function that is asked on behalf of a person, made to forget who asks.

# Of a person's own: what others said is not among it. tests/annotate/members/test_personal_data.py finds when their own
# is not held back.
ONES_OWN = {
    "annotate.labels.gold_read.feedback_after", "annotate.members.personal_data._decisions",
    "annotate.members.personal_data._label_changes", "annotate.members.personal_data._labels",
    "annotate.members.personal_data.written", "annotate.verdicts.lessons_read.Lessons",
}  # fmt: skip
# The report that they are given is read for the reader already.
HELD_BACK_TWICE = {
    "frontend.reports.compare.compare_context", "judges.core.scores_read.rationales",
    "judges.reports.read.with_both_words",
}  # fmt: skip
# What they hide nobody may know, decided or not: tests/config/test_locked.py finds those that forget.
LOCKED = {
    "frontend.reports.judge.triage_context", "judges.certificates.triage_read.left_to_people",
    "judges.core.locked_read.locked", "judges.core.locked_read.locked_samples",
}  # fmt: skip
# They choose and sort samples and units, and say nothing in words: tests/frontend/data/test_sample_filter.py,
# test_unit_list.py and tests/frontend/batches/test_chosen_samples.py find those that forget.
CHOOSE = {
    "annotate.core.blindness.samples_not_to_label", "annotate.verdicts.samples_read.Samples",
    "annotate.verdicts.samples_read.samples_wanted", "frontend.batches.chosen_samples.chosen_samples",
    "annotate.verdicts.units_read.Units", "judges.reports.units_read.compared_units",
    "judges.reports.units_read.scored_units",
}  # fmt: skip
# A judge's mistakes and what its version learned are kept from who still labels one of their samples, and nobody in the
# crawl who may read them does: tests/judges/api/test_mistakes.py and tests/judges/versions/test_learned.py find those
# that forget.
OF_MANY = {
    "judges.api.certificates_serializers.of_certificate", "judges.reports.mistaken_units.units_in_words",
    "judges.reports.mistakes.reasons_of", "judges.reports.mistakes_kept.mistakes_of", "judges.reports.read.with_words",
    "judges.versions.read.learned_for",
}  # fmt: skip
# Figures that who may still label is told of no batch: tests/judges/proposals/test_values.py and
# tests/frontend/batches/test_proposals.py find those that forget.
PULLS = {"annotate.batches.anchoring_read.proposal_effect", "frontend.batches.proposals.effect_of"}
# By person, of each function the addresses at which it is asked on their behalf. A crawl takes long: one does for all
# tests.
_asked: dict[str, dict[str, list[Address]]] = {}


def readers() -> dict[str, Any]:
    """Functions with a reader, and classes whose pieces are read one by one."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith(("annotate.", "judges.", "frontend.")):
            for one in vars(module).values():
                if (
                    (inspect.isfunction(one) or inspect.isclass(one))
                    and one.__module__ == name
                    and "reader" in getattr(one, "__annotations__", ())
                    and takes_its_reader(one)
                ):
                    found[f"{name}.{one.__name__}"] = one
    return found


def put_in_place(patch: pytest.MonkeyPatch, original: Any, other: Any) -> None:
    """Wherever it was imported, and in tables."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("annotate.", "judges.", "frontend.")):
            for key, value in list(vars(module).items()):
                if value is original:
                    patch.setattr(module, key, other)
                elif isinstance(value, dict):
                    for place in [place for place, one in value.items() if one is original]:
                        patch.setitem(value, place, other)


def with_reader(original: Any, change: Callable[[Any], Any]) -> Any:
    def asked(*args: Any, **given: Any) -> Any:
        return original(*args, **{**given, "reader": change(given["reader"])})

    return asked


def told_to(world: Hidden, name: str) -> Iterator[Told]:
    """Everything, and notes what is asked on the way."""
    found: dict[str, list[Address]] = defaultdict(list)
    crawl = crawl_of(world, name)
    with pytest.MonkeyPatch.context() as patch:
        for path, original in readers().items():

            def note(reader: Any, path: str = path) -> Any:
                if isinstance(reader, User) and crawl.asked not in found[path]:
                    found[path].append(crawl.asked)
                return reader

            put_in_place(patch, original, with_reader(original, note))
        yield from crawl.everything()
        for address in posts_of(world):
            yield crawl.read(address)
    _asked[name] = dict(found)


def missed(world: Hidden, name: str, check: Check, found: Collection[str] = ()) -> tuple[set[str], set[str]]:
    """Which are asked on behalf of this person; and which of them can forget it and nothing shows. found: those that
    are found already on behalf of somebody else."""
    if name not in _asked:
        for _told in told_to(world, name):
            pass
    # What chooses, and what is locked, is asked at hundreds of addresses, and shows at none.
    unseen = (CHOOSE | LOCKED) & set(_asked[name])
    for path, original in readers().items():
        if path in _asked[name] and path not in {*ONES_OWN, *CHOOSE, *LOCKED, *found}:
            with pytest.MonkeyPatch.context() as patch:
                put_in_place(patch, original, with_reader(original, lambda reader: SYSTEM))
                cache.clear()
                crawl = crawl_of(world, name)
                if not any(check(crawl.read(address)) for address in _asked[name][path]):
                    unseen.add(path)
    return set(_asked[name]) - ONES_OWN, unseen


def test_one_that_forgets_its_reader_is_found(world: Hidden) -> None:
    asked, unseen = missed(world, "rita", leak_to_a_reviewer)
    seen = asked - unseen
    give_everything(world, "alice")
    also_asked, also_unseen = missed(world, "alice", leak_to_an_annotator, found=seen)
    seen |= also_asked - also_unseen
    left = (asked | also_asked) - seen
    known = HELD_BACK_TWICE | LOCKED | CHOOSE | OF_MANY | PULLS
    assert left == known, sorted(left ^ known)
    assert len(seen) > 30


def test_what_is_held_back_twice_is_by_itself(world: Hidden) -> None:
    wanted = {("scorer", "1", "grade", (name, "answer")) for name in (OPEN, UNTOUCHED, SETTLED[0])}

    def told(reader: Reader) -> set[str]:
        return {sample for _judge, _version, _name, (sample, _unit) in rationales(world.project, wanted, reader=reader)}

    assert told(world.users["rita"]) == {SETTLED[0]}
    assert told(world.users["alice"]) == told(SYSTEM) == {OPEN, UNTOUCHED, SETTLED[0]}
    give_everything(world, "alice")
    assert told(world.users["alice"]) == set()
