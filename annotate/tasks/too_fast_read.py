"""Tasks that were submitted far faster than their annotator could have read them: for admins and reviewers, who may
ask. Nothing is dropped because of it. The one home of this rule (docs/statistics.md, "Labels that came too fast").

How long a task took is what the browser measured, and never more than the time there was: what somebody spent on all
tasks of the project together can't be longer than the clock ran since the task's batch was opened. Labels that come in
a bunch, after hours without a network, pass; a script that states any time it likes does not get far. Where nothing was
measured, it is the time since the annotator's submission before.

How long it takes at least: question and answer, and contexts where each of them is asked about, at four times the speed
of silent reading. Contexts that only serve as evidence count nothing, since one may look for a passage in them. Nor
does what its annotator has read before, in any batch of the project: the sample, or another one's question and
contexts, as when several versions of a pipeline answered the same. A task that was too fast read nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import inf
from operator import attrgetter

from annotate.core.rows import fetch_all, fetch_each
from annotate.labels.read import DONE

# Brysbaert (2019), Journal of Memory and Language 109: adults read English silently at 238 words per minute, most of
# them at 175 to 300. At four times that nobody reads.
WORDS_PER_MINUTE = 238
FASTER = 4
# An English word with its space; Chinese, Japanese and Korean characters of a word (Trauzettel-Klosinski and Dietz
# 2012: 255 characters are 158 words).
LETTERS_OF_WORD, CHARACTERS_OF_WORD = 6, 1.6
# To see what is asked and to press a key, also of a sample that one has read before.
LEAST_SECONDS = 1.0

# So many of an annotator's tasks are read before one that may have been too fast; more where they left it too little.
_JUST_BEFORE = 10
_EVERY = 2**31

# All but those.
_OTHERS = "[^\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
# All that the annotators of the given tasks have submitted in the project.
_DONE_AND_READ = """
    WITH given AS (
        SELECT t.id, t.annotator_id, b.project_id
          FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id WHERE t.id = ANY(%(tasks)s)
    ), done AS (
        SELECT t.id, b.project_id, t.annotator_id, t.sample_id, t.submitted_at, t.active_seconds, b.opened_at,
               EXISTS (SELECT FROM annotate_batchcriterion bc JOIN annotate_criterion c ON c.id = bc.criterion_id
                        WHERE bc.batch_id = t.batch_id AND c.unit = 'context') AS with_contexts,
               g.id IS NOT NULL AS is_given
          FROM annotate_task t
          JOIN annotate_batch b ON b.id = t.batch_id
          -- Joined, so that PostgreSQL knows how many tasks there will be.
          JOIN (SELECT DISTINCT annotator_id FROM given) AS person USING (annotator_id)
          -- Joined: an `id IN (SELECT …)` beside an OR goes through all of a million for each task.
          LEFT JOIN given g ON g.id = t.id
         -- Not by both in pairs: an annotator's tasks were read once for each batch of the project. What somebody did
         -- in another of the projects is read in vain, and told apart by its project.
         WHERE t.status = 'submitted' AND b.project_id = ANY(ARRAY(SELECT DISTINCT project_id FROM given))
    ), read AS (
        SELECT one.sample_id, one.with_contexts, length(words) AS letters,
               -- Each of these characters has at least two bytes more than a letter.
               (octet_length(words) - length(words)) / 2 AS most_characters
          FROM (SELECT p.*, concat(s.question, ' ', s.answer, CASE WHEN p.with_contexts THEN
                       (SELECT string_agg(c ->> 'text', ' ') FROM jsonb_array_elements(s.contexts) AS c) END) AS words
                  FROM (SELECT DISTINCT sample_id, with_contexts FROM done
                         WHERE %(every_text)s OR is_given) AS p
                  JOIN annotate_sample s ON s.id = p.sample_id OFFSET 0) AS one
    )
"""
_SUBMITTED = f"""
    {_DONE_AND_READ}, placed AS (
        SELECT *, row_number() OVER person AS place,
               -- Counted, as PostgreSQL takes off again what leaves the frame.
               count(*) FILTER (WHERE is_given) OVER (
                   person ROWS BETWEEN CURRENT ROW AND %(before)s FOLLOWING) > 0 AS is_near
          FROM done WINDOW person AS (PARTITION BY project_id, annotator_id ORDER BY submitted_at, id)
    )
    SELECT d.id, d.project_id, d.annotator_id, d.sample_id, d.with_contexts, d.submitted_at, d.opened_at, d.place,
           CASE WHEN d.active_seconds > 0 OR m.seconds IS NOT NULL
                THEN greatest(d.active_seconds, m.seconds)::float END,
           coalesce(r.letters, 0), coalesce(r.most_characters, 0)
      FROM placed d
      LEFT JOIN read r USING (sample_id, with_contexts)
      -- Looked up for each: PostgreSQL expects many more of them, and would go through all labels.
     CROSS JOIN LATERAL (SELECT sum(l.active_ms) / 1000.0 AS seconds FROM annotate_label l
                          WHERE l.task_id = d.id AND {DONE}) AS m
     WHERE d.is_near
     ORDER BY d.project_id, d.annotator_id, d.submitted_at, d.id
"""
# Of the given tasks alone, what they took at least: what the task measured, or the time since the submission before if
# that is shorter (`spent` gives no less, as what is left of earlier time is never below zero). Reads no labels.
_AT_LEAST = f"""
    {_DONE_AND_READ}, placed AS (
        SELECT *, lag(submitted_at) OVER person AS before, row_number() OVER person AS place
          FROM done WINDOW person AS (PARTITION BY project_id, annotator_id ORDER BY submitted_at, id)
    ), spent AS (
        SELECT d.id, d.project_id, d.annotator_id, d.sample_id, d.with_contexts, d.submitted_at, d.opened_at, d.place,
               NULL,
               coalesce(r.letters, 0) AS letters, coalesce(r.most_characters, 0) AS most_characters,
               CASE WHEN d.active_seconds > 0
                    THEN least(d.active_seconds::float, extract(epoch FROM d.submitted_at - greatest(
                        d.before, CASE WHEN d.opened_at <= d.submitted_at THEN d.opened_at END))::float)
                    ELSE 0 END AS seconds
          FROM placed d
          LEFT JOIN read r USING (sample_id, with_contexts)
         WHERE d.is_given
    )
    -- Few of a million come near to what `_seconds_needed` asks for, and it decides.
    SELECT * FROM spent WHERE seconds < 1.001 * greatest({LEAST_SECONDS}, {60 / (FASTER * WORDS_PER_MINUTE)}::float * (
        (letters - most_characters) / {LETTERS_OF_WORD}::float + most_characters / {CHARACTERS_OF_WORD}::float))
"""
# The texts of samples. Characters take long to count, and few tasks come near to being too fast.
_TEXTS = """
    SELECT s.id, one.is_context, md5(one.words), length(one.words),
           CASE WHEN s.id = ANY(%(quick)s) AND octet_length(one.words) > length(one.words)
                THEN length(regexp_replace(one.words, %(others)s, '', 'g')) ELSE 0 END
      FROM annotate_sample s
     CROSS JOIN LATERAL (
           SELECT false AS is_context, s.question AS words
            UNION ALL SELECT false, s.answer
            UNION ALL SELECT true, c ->> 'text' FROM jsonb_array_elements(s.contexts) AS c) AS one
     WHERE s.id = ANY(%(samples)s) AND one.words <> ''
"""


@dataclass(frozen=True, slots=True)
class Done:
    """A submitted task: when its batch was opened, its place among all that its annotator submitted in the project,
    from 1, the seconds that the browser measured (None: none), how long the text is, and how many of its letters can be
    Chinese, Japanese or Korean characters at most."""

    id: int
    project: int
    annotator: int
    sample: int
    with_contexts: bool
    submitted_at: datetime
    opened_at: datetime | None
    place: int
    measured: float | None
    letters: int
    most_characters: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """A question, an answer or a context; two with one digest are the same."""

    is_context: bool
    digest: str
    letters: int
    characters: int = 0


def too_fast_tasks(task_ids: Iterable[int]) -> dict[int, int]:
    """The annotator of each of these tasks that was submitted too fast, by the task's key."""
    given = set(task_ids)
    # Nearly all had time left of the tasks just before. All that an annotator submitted is read only where that is not
    # enough.
    quick = _quick_among(_quick_among(_possibly_quick(given), before=_JUST_BEFORE))
    if not quick:
        return {}
    # What the annotators of these have read elsewhere.
    everything = list(_spent_with(quick, every_text=True))
    samples = {
        "samples": list({row.task.sample for row in everything}),
        "quick": list({row.task.sample for row in everything if row.is_quick}),
    }
    rows = fetch_all(_TEXTS, {**samples, "others": _OTHERS})
    # A text that samples share is counted where it is of a quick one.
    characters: Counter[str] = Counter()
    for _sample, _is_context, digest, _letters, count in rows:
        characters[digest] = max(characters[digest], count)
    texts = defaultdict(list)
    for sample, is_context, digest, letters, _count in rows:
        texts[sample].append(Text(is_context, digest, letters, characters[digest]))
    return {task.id: task.annotator for task in too_fast(everything, texts) if task.id in given}


def _possibly_quick(task_ids: Collection[int]) -> set[int]:
    rows = fetch_all(_AT_LEAST, {"tasks": list(task_ids), "every_text": False})
    return {task for task, *about, seconds in rows if Spent(Done(task, *about), seconds).is_quick}


def _quick_among(task_ids: Collection[int], *, before: int = _EVERY) -> set[int]:
    if not task_ids:
        return set()
    return {row.task.id for row in _spent_with(task_ids, before=before) if row.task.id in task_ids and row.is_quick}


def _spent_with(task_ids: Collection[int], *, before: int = _EVERY, every_text: bool = False) -> Iterator[Spent]:
    """On these tasks, and on as many before each of them as its annotator submitted; the others' texts count nothing
    without every_text."""
    given = {"tasks": list(task_ids), "before": before, "every_text": every_text}
    return spent(Done(*row) for row in fetch_each(_SUBMITTED, given))


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds that a task took at most."""

    task: Done
    seconds: float

    @property
    def is_quick(self) -> bool:
        """Too fast, if nothing of it had been read before, and every letter that can be one is a character."""
        return self.seconds < _seconds_needed([(self.task.letters, self.task.most_characters)])


def spent(done: Iterable[Done]) -> Iterator[Spent]:
    """Of each task, of which it is known or not (infinite). done: all of an annotator's in each project, in the order
    of project, annotator and submission; where some are missing, those after them took at least that long."""
    for _person, tasks in groupby(done, key=attrgetter("project", "annotator")):
        before: datetime | None = None
        # The time that was there for what they have submitted since, and is not accounted for.
        left, place = 0.0, 0
        for task in tasks:
            is_next, place = task.place == place + 1, task.place
            if not is_next:
                # Whatever was left of the missing ones' time, it was not below zero.
                left, before = 0.0, task.submitted_at
                yield Spent(task, inf)
                continue
            # Unless the clock was put back since then, which then says nothing.
            opened_at = task.opened_at if task.opened_at and task.opened_at <= task.submitted_at else None
            since = max((at for at in (before, opened_at) if at is not None), default=None)
            gap = None if since is None else (task.submitted_at - since).total_seconds()
            left += gap or 0.0
            if opened_at is not None:
                left = min(left, (task.submitted_at - opened_at).total_seconds())
            seconds = gap
            if task.measured is not None:
                seconds = task.measured if gap is None else min(task.measured, left)
            yield Spent(task, inf if seconds is None else seconds)
            left -= min(left, seconds or 0.0)
            before = task.submitted_at


def too_fast(rows: Iterable[Spent], texts: Mapping[int, Sequence[Text]]) -> Iterator[Done]:
    """rows: in the order of project, annotator and submission. texts: of each sample."""
    for _person, tasks in groupby(rows, key=attrgetter("task.project", "task.annotator")):
        known: set[str] = set()
        for row in tasks:
            new = {text.digest: text for text in texts.get(row.task.sample, ()) if text.digest not in known}
            asked = [text for text in new.values() if row.task.with_contexts or not text.is_context]
            if row.seconds < _seconds_needed((text.letters, text.characters) for text in asked):
                yield row.task
                continue
            known.update(text.digest for text in asked)
            # Contexts that serve as evidence were read where there was time for it.
            if row.seconds >= _seconds_needed((text.letters, text.characters) for text in new.values()):
                known.update(new)


def _seconds_needed(lengths: Iterable[tuple[int, int]]) -> float:
    """lengths: of each text its letters, and how many of them are Chinese, Japanese or Korean characters."""
    words = sum(
        (letters - characters) / LETTERS_OF_WORD + characters / CHARACTERS_OF_WORD for letters, characters in lengths
    )
    return max(LEAST_SECONDS, words * 60 / (FASTER * WORDS_PER_MINUTE))
