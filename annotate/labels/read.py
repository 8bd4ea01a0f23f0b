"""Which labels count: those made elsewhere, and those of submitted tasks that were not given to measure the annotator
(gold, repeats); none of claims of an answer that abstains. Which of several versions of a criterion speaks for a unit,
which labels were given after a reviewer's answer, how long a choice took, and which verdicts are a batch's.

The one home of these rules. Each stands here twice: for Django's queries, and for statements by hand. A test holds the
two against each other.
"""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.core.counting import GIVEN
from annotate.core.units import no_abstention, without_abstentions
from annotate.models import Batch, BatchCriterion, BatchSample, Label, LabelEvent, ThreadMessage, Verdict
from annotate.models.batch import Purpose, TaskStatus

# Of `annotate_label l`: a value, or "can't tell" with its reason. A comment alone answers nothing.
ANSWERED = "(l.value IS NOT NULL OR l.cant_tell <> '')"
VOTE = f"l.value IS NOT NULL AND {GIVEN}"
COUNTING = f"{VOTE} AND {no_abstention('l')}"
# The answer "can't tell".
UNDECIDED = f"l.cant_tell <> '' AND {GIVEN}"
# Given by its rater in its task, not carried over from an earlier version of its criterion. For figures of what people
# did.
DONE = (
    "NOT EXISTS (SELECT FROM annotate_labelevent first WHERE first.label_id = l.id AND first.revision = 1"
    " AND first.carried_from_id IS NOT NULL)"
)
# For DISTINCT ON (criterion, sample, unit, rater): the label that comes first is the one.
LATEST_FIRST = "l.criterion_id, l.sample_id, l.unit, l.rater_id, l.updated_at DESC, l.id DESC"


def votes() -> QuerySet[Label]:
    """Labels with a value that were imported or submitted; a choice in an open task doesn't count yet. With those of
    claims of answers that abstain, which count for nothing."""
    given = Q(task__isnull=True) | Q(task__status=TaskStatus.SUBMITTED, task__purpose=Purpose.LABEL)
    return Label.objects.filter(given, value__isnull=False)


def counting_labels() -> QuerySet[Label]:
    """Without them."""
    return without_abstentions(votes())


def is_carried() -> Exists:
    """Of labels: the opposite of DONE."""
    return Exists(LabelEvent.objects.filter(label=OuterRef("pk"), revision=1, carried_from__isnull=False))


def was_after_answer() -> Exists:
    """Of labels: last saved after a reviewer had answered, in a thread of its task about its unit and criterion or the
    whole sample. Such a label was given with help (decision 41)."""
    of_label = Q(thread__unit=OuterRef("unit"), thread__criterion__key=OuterRef("criterion__key"))
    messages = ThreadMessage.objects.filter(Q(thread__unit="") | of_label, thread__task=OuterRef("task"))
    answers = messages.exclude(author=F("thread__asked_by"))
    return Exists(answers.filter(created_at__lt=OuterRef("updated_at")))


def undecided_labels() -> QuerySet[Label]:
    """Labels of submitted tasks that say "can't tell". They are no votes, but a reviewer wants to see them."""
    submitted = Label.objects.filter(task__status=TaskStatus.SUBMITTED, task__purpose=Purpose.LABEL)
    return without_abstentions(submitted.exclude(cant_tell=""))


def answering_labels() -> QuerySet[Label]:
    """Both: every answer, a value or "can't tell"."""
    return counting_labels() | undecided_labels()


def latest_per_rater(labels: QuerySet[Label]) -> QuerySet[Label]:
    """One label per (criterion, sample, unit, rater): the latest, when a person met the unit in two batches."""
    return labels.order_by("criterion_id", "sample_id", "unit", "rater_id", "-updated_at", "-id").distinct(
        "criterion_id", "sample_id", "unit", "rater_id"
    )


def latest_of_unit(verdicts: QuerySet[Verdict]) -> QuerySet[Verdict]:
    """Without those of a unit that has a verdict on a later version of the same criterion: labels that were carried
    over, or given anew, took their place."""
    later = Verdict.objects.filter(
        sample=OuterRef("sample"),
        unit=OuterRef("unit"),
        criterion__key=OuterRef("criterion__key"),
        criterion__version__gt=OuterRef("criterion__version"),
    )
    # Only the few verdicts on earlier versions are looked up. Otherwise tables that were just filled, of which the
    # planner knows nothing yet, are joined row by row: minutes for a few hundred verdicts.
    return verdicts.filter(Q(criterion__is_current=True) | ~Exists(later))


# A gap of this length was a pause.
PAUSE_SECONDS = 600
# No hand is quicker: a script sent these, or one key set several.
QUICKEST_SECONDS = 0.2

# Of each label of a criterion the seconds of work that the browser measured for it; where it measured none, of its
# first choice the seconds since the choice before it in the same task, on any criterion.
#
# Left out are labels that came faster than a hand; and of those without a measure the first choice of a task, which has
# none before it, and choices after a pause of ten minutes or more.
SECONDS_PER_CHOICE = f"""
    WITH gaps AS (
        SELECT l.id, l.criterion_id, l.active_ms, e.revision, extract(epoch FROM e.created_at - lag(e.created_at) OVER (
            PARTITION BY l.task_id ORDER BY e.created_at, e.id)) AS gap
        FROM annotate_labelevent e JOIN annotate_label l ON l.id = e.label_id
        -- Only of tasks where one is needed: to sort all that was ever chosen takes long.
        WHERE l.task_id IN (SELECT task_id FROM annotate_label
                             WHERE criterion_id = %(criterion)s AND active_ms IS NULL)
          AND e.carried_from_id IS NULL
    ), choices AS (
        SELECT l.id, l.active_ms / 1000.0 AS seconds FROM annotate_label l
         WHERE l.criterion_id = %(criterion)s AND l.task_id IS NOT NULL AND l.active_ms IS NOT NULL AND {DONE}
         UNION ALL
        SELECT id, gap FROM gaps
         WHERE criterion_id = %(criterion)s AND active_ms IS NULL AND revision = 1 AND gap < {PAUSE_SECONDS}
    )
    SELECT id, round(seconds::numeric, 1)::float8 AS seconds FROM choices WHERE seconds >= {QUICKEST_SECONDS}
"""


# Of `annotate_verdict e`, by the project's id and the batch's number. Rows of the batch, hashed once: nothing is looked
# up per unit.
_ID = "(SELECT id FROM annotate_batch WHERE project_id = %(project)s AND number = %(batch)s)"
OF_BATCH = f"""
    (e.batch_id = {_ID}
     OR e.sample_id IN (SELECT sample_id FROM annotate_batchsample WHERE batch_id = {_ID})
    AND e.criterion_id IN (SELECT criterion_id FROM annotate_batchcriterion WHERE batch_id = {_ID}))
"""


def of_batch(verdicts: QuerySet[Verdict], batch: Batch) -> QuerySet[Verdict]:
    """Those on what the batch asks about its samples.

    A unit has one verdict, however many batches ask about it, and it is each of theirs: whichever batch a reviewer or
    an export is narrowed to, nothing that was labelled there is missing. Verdict.batch names only the batch that last
    brought votes; it counts here for a verdict that was carried over to a version of its criterion which the batch
    never asked.
    """
    asked = Q(
        sample__in=BatchSample.objects.filter(batch=batch).values("sample"),
        criterion__in=BatchCriterion.objects.filter(batch=batch).values("criterion"),
    )
    return verdicts.filter(asked | Q(batch=batch))
