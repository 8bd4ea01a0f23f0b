"""What came, written: replies at once, responses many at a time by the one way in that they have
(systems.responses.import_responses)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Event
from typing import Any

import orjson
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.db.models import F

from annotate.core import advisory
from annotate.files import import_engine
from annotate.files.problems import Problem
from annotate.models.transfer import ImportKind
from judges.runs.outcomes import note_fault, storable
from judges.runs.writer import Gathering
from systems.models import QuestionRevision, Response, ResponseStatus, TargetAsk, TargetReply, TargetRun
from systems.targets.replies import Mapped

# A reply waits this long for others, and what asked it waits for it to be written.
_REPLY_SECONDS = 0.002
# Responses wait this long: nothing waits for them, and they can be had again from the replies.
_RESPONSE_SECONDS = 0.5
_MOST_RESPONSES = 200
_LARGEST_COST = Decimal(10) ** 6
_SMALLEST = Decimal("1e-9")


@dataclass(slots=True, eq=False)
class Sending:
    """A request that went out, and what it brought. reply: None for nothing; cost: None where it isn't known.
    is_written: set once it is."""

    reply: TargetReply | None
    cost: float | None
    is_written: Event


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question. key: of its reply; empty where none came. mapped: None where it failed, for `detail`."""

    revision: QuestionRevision
    repeat: int
    key: str
    is_kept: bool
    mapped: Mapped | None
    detail: str = ""


class Storing:
    """Of one run in one process. lost: what kept something from being written, so that nothing more is to be asked."""

    def __init__(self, run: TargetRun) -> None:
        self._run = run
        self.lost: Exception | None = None
        self._sendings = Gathering[Sending]("replies", _REPLY_SECONDS, self._write_sendings)
        self._outcomes = Gathering[Outcome]("responses", _RESPONSE_SECONDS, self._write_outcomes, most=_MOST_RESPONSES)

    def sent(self, reply: TargetReply | None, cost: float | None) -> None:
        """Returns when it is written, or can't be."""
        sending = Sending(reply, cost, Event())
        self._sendings.put(sending)
        sending.is_written.wait()

    def put(self, outcome: Outcome) -> None:
        self._outcomes.put(outcome)

    def close(self) -> None:
        """Waits until everything is written."""
        self._sendings.close()
        self._outcomes.close()

    def _write_sendings(self, group: list[Sending]) -> None:
        try:
            if self.lost is None:
                _store_sendings(self._run.pk, group)
        except Exception as error:  # noqa: BLE001 - who waits for this thread would wait for ever
            self._lose(error)
        finally:
            for each in group:
                each.is_written.set()

    def _write_outcomes(self, group: list[Outcome]) -> None:
        try:
            if self.lost is None:
                store_outcomes(self._run, group)
        except Exception as error:  # noqa: BLE001 - the main thread tells of it
            self._lose(error)

    def _lose(self, error: Exception) -> None:
        self.lost = error
        note_fault(error, "What a target said can't be written; it is asked, or read from its replies, later")
        if isinstance(error, DatabaseError):
            connection.close()


def _store_sendings(run_id: int, group: Sequence[Sending]) -> None:
    replies = [each.reply for each in group if each.reply is not None]
    known = [each.cost for each in group if each.cost is not None]
    with transaction.atomic():
        TargetReply.objects.bulk_create(replies, ignore_conflicts=True)
        TargetRun.objects.filter(pk=run_id).update(
            requests=F("requests") + len(group),
            cost=F("cost") + sum(map(as_money, known), Decimal(0)),
            unpriced=F("unpriced") + len(replies) - len(known),
        )


def as_money(cost: float | None) -> Decimal:
    """As a run counts it."""
    return min(Decimal(str(cost or 0)), _LARGEST_COST).quantize(_SMALLEST)


def store_outcomes(run: TargetRun, group: Sequence[Outcome]) -> None:
    """All or nothing: the responses, and what is noted of them in the run."""
    with transaction.atomic():
        advisory.begin_import(run.version.project_id, wait=True)
        stored = _responses_stored(run, group)
        keys = {one.key for one in stored if one.key}
        replies = dict(TargetReply.objects.filter(version=run.version, key__in=keys).values_list("key", "pk"))
        TargetAsk.objects.bulk_create(
            (
                TargetAsk(
                    run=run,
                    revision=one.revision,
                    repeat=one.repeat,
                    status=ResponseStatus.FAILED if one.mapped is None else ResponseStatus.OK,
                    detail=one.detail,
                    reply_id=replies.get(one.key),
                    is_kept=one.is_kept,
                )
                for one in stored
            ),
            ignore_conflicts=True,
        )


def _responses_stored(run: TargetRun, group: Sequence[Outcome]) -> list[Outcome]:
    """As they are stored: an answer that can't be is a failure, which says why. One to which another answer has come
    from elsewhere is left out."""
    left = list(group)
    while left:
        problems = _imported(run, left)
        if not problems:
            break
        left = list(_mended(run, left, problems))
    return left


def _imported(run: TargetRun, group: Sequence[Outcome]) -> list[Problem]:
    """What is wrong with rows of them, so that nothing is imported; empty where all of it is."""
    with NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        file.write(b"\n".join(orjson.dumps(_row(one)) for one in group))
        file.flush()
        done = import_engine.run(
            project=run.version.project,
            kind=ImportKind.SAMPLES,
            path=Path(file.name),
            file_name="responses.jsonl",
            mapping={},
            options={"version": run.version.name},
        )
    return done.errors


def _row(one: Outcome) -> dict[str, Any]:
    row = {"question_id": one.revision.question.external_id, "repeat": one.repeat}
    if one.mapped is None:
        return {**row, "status": ResponseStatus.FAILED.value, "error": one.detail}
    found = one.mapped
    row |= {"question": one.revision.text, "contexts": found.contexts, **found.measures}
    said = {"answer": found.answer, "abstained": found.abstained}
    return row | {name: value for name, value in said.items() if value is not None}


def _mended(run: TargetRun, group: Sequence[Outcome], problems: Iterable[Problem]) -> Iterable[Outcome]:
    wrong: dict[int, Problem] = {}
    for problem in problems:
        if problem["row"] is None:
            raise ValueError(problem["message"])
        wrong.setdefault(problem["row"], problem)
    for number, one in enumerate(group, start=1):
        if number not in wrong:
            yield one
        elif one.mapped is not None and not _is_answered(run, one):
            said = wrong[number]
            where = f"{said['field']}: " if said["field"] else ""
            detail = storable(f"The answer can't be stored. {where}{said['message']}")
            yield Outcome(one.revision, one.repeat, one.key, one.is_kept, None, detail)
        elif one.mapped is None and not _is_answered(run, one):
            raise ValueError(wrong[number]["message"])


def _is_answered(run: TargetRun, one: Outcome) -> bool:
    """By somebody else, meanwhile."""
    answered = Response.objects.filter(version=run.version, question=one.revision.question, repeat=one.repeat)
    return answered.filter(status=ResponseStatus.OK).exists()
