"""Who must not know yet what others said. These rules' one home.

- Who still has a sample to label doesn't see what others said about it, people or judges, whatever their role.
- Who decides about units (a reviewer) doesn't see what judges said about a sample before it is decided: before all
  units of it that people labelled, or are to label, are settled. So nothing is shown while a unit is disputed, reopened
  or in work, nor of a sample that no person has labelled.
- Nor do they see who of the people said what, before or after, unless the project shows names: they see letters.

Admins are held to the first rule only: by their role they read the trail, the scores of each run, and exports.

What reads what people or judges said takes the `reader` and applies the rule itself, so that no caller can forget it.
Where the reader is no particular user, the caller says so, by a name that shows in a code review.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Any, TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.counting import GIVEN, IS_LATEST
from annotate.core.errors import Conflict
from annotate.core.permissions import ROLES_FOR, may, role_of
from annotate.core.rounds import MET_IN_ROUND, met_in_round
from annotate.core.rows import fetch_all
from annotate.core.units import no_abstention
from annotate.models import Batch, Project, Rater, Sample, Task, User
from annotate.models.batch import OPEN_TASK_STATUSES, RUNNING_BATCH_STATUSES

Row = TypeVar("Row", bound=Model)


class GeneralReader(Enum):
    """Readers that are no particular user: they have nothing to label, so nothing is held back from them."""

    # Rules, the worker, the command line, and figures over many units: what is read is not shown as it is.
    SYSTEM = "system"
    # What is stored once for all readers, and held back when one of them reads it: a frozen report.
    EVERYONE = "everyone"


SYSTEM, EVERYONE = GeneralReader.SYSTEM, GeneralReader.EVERYONE
Reader = User | GeneralReader

# What is still to label for a user, for statements by hand.
_TASKS_AHEAD = f"""
    annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
     WHERE t.status = ANY(%(open)s) AND b.status = ANY(%(running)s)
       AND (t.annotator_id = %(user)s
            OR t.annotator_id IS NULL
           AND t.batch_id = ANY(ARRAY(SELECT a.batch_id FROM annotate_batch_annotators a WHERE a.user_id = %(user)s))
           AND NOT EXISTS (SELECT FROM annotate_task own WHERE own.batch_id = b.id
                              AND own.sample_id = t.sample_id AND own.annotator_id = %(user)s)
           AND NOT {MET_IN_ROUND.format(sample="t.sample_id", user="%(user)s")})
"""
# Of one sample: `{sample}` names the column of its id. And all such samples, for lists of many.
STILL_TO_LABEL = f"EXISTS (SELECT FROM {_TASKS_AHEAD} AND t.sample_id = {{sample}})"
SAMPLES_TO_LABEL = f"SELECT t.sample_id FROM {_TASKS_AHEAD}"

# Of `annotate_sample s`: not every unit of it that people labelled, or have to label, is settled; or none is. Who said
# that an answer abstains has decided about its claims.
_UNDECIDED = f"""
    (NOT EXISTS (SELECT FROM annotate_verdict v WHERE v.sample_id = s.id
                   AND (v.state = 'settled' OR NOT {no_abstention("v")}))
     OR EXISTS (SELECT FROM annotate_verdict v JOIN annotate_criterion c ON c.id = v.criterion_id
                 WHERE v.sample_id = s.id AND NOT v.state = 'settled' AND {IS_LATEST.format(verdict="v")}
                   AND {no_abstention("v")})
     OR EXISTS (SELECT FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
                 WHERE t.sample_id = s.id AND t.purpose = 'label' AND t.status = ANY(%(open)s)
                   AND b.status = ANY(%(running)s))
     OR EXISTS (SELECT FROM annotate_label l JOIN annotate_criterion c ON c.id = l.criterion_id
                  LEFT JOIN annotate_task t ON t.id = l.task_id
                 WHERE l.sample_id = s.id AND (l.value IS NOT NULL OR l.cant_tell <> '') AND {GIVEN}
                   AND {no_abstention("l")}
                   AND NOT EXISTS (SELECT FROM annotate_verdict v JOIN annotate_criterion vc ON vc.id = v.criterion_id
                                    WHERE v.sample_id = s.id AND v.unit = l.unit AND vc.key = c.key)))
"""
# Those who decide about units, and by their role read no single score.
_DECIDING = sorted(ROLES_FOR["adjudication.decide"] - ROLES_FOR["judges.run"])
_DECIDES = """
    EXISTS (SELECT FROM annotate_membership m WHERE m.user_id = %(user)s AND m.project_id = s.project_id
               AND m.is_active AND m.role = ANY(%(deciding)s))
"""


def parameters(reader: Reader) -> dict[str, Any]:
    """Those of STILL_TO_LABEL and SAMPLES_TO_LABEL."""
    return {
        "user": None if isinstance(reader, GeneralReader) else reader.pk,
        "open": [status.value for status in OPEN_TASK_STATUSES],
        "running": [status.value for status in RUNNING_BATCH_STATUSES],
    }


def still_to_label(reader: Reader, sample: Sample) -> bool:
    """Whether the reader has the sample in hand, or could take it from a queue."""
    return not isinstance(reader, GeneralReader) and _tasks_ahead(reader).filter(sample=sample).exists()


def samples_still_to_label(reader: Reader, sample_ids: Collection[int]) -> set[int]:
    """Those of the samples that `still_to_label` is true of. One query."""
    return _those(reader, sample_ids, STILL_TO_LABEL.format(sample="s.id"))


def samples_without_judges(reader: Reader, sample_ids: Collection[int]) -> set[int]:
    """Those of the samples about which the reader must not know yet what judges said: they still have to label them, or
    to decide about them. One query."""
    rule = STILL_TO_LABEL.format(sample="s.id")
    return _those(reader, sample_ids, f"({rule} OR {_DECIDES} AND {_UNDECIDED})")


def _those(reader: Reader, sample_ids: Collection[int], rule: str) -> set[int]:
    if not sample_ids or isinstance(reader, GeneralReader):
        return set()
    found = fetch_all(
        f"SELECT s.id FROM annotate_sample s WHERE s.id = ANY(%(samples)s) AND {rule}",
        {
            "samples": list(sample_ids),
            # A superuser is an admin everywhere.
            "deciding": [] if reader.is_superuser else _DECIDING,
            **parameters(reader),
        },
    )
    return {pk for (pk,) in found}


# Figures of what a judge said of fewer samples say much about each of them.
FEWEST_SAMPLES = 20


def require_figures_of_many(reader: Reader, sample_ids: Collection[int], answers: Collection[Any]) -> set[int]:
    """For figures of what a judge said of these samples, which are all shown together. Returns those of the samples
    about which the reader must not know it yet. Raises Conflict where there is one and the figures would tell it: they
    are of few samples, or all of the answers are the same."""
    held_back = samples_without_judges(reader, sample_ids)
    if held_back and answers and (len(set(sample_ids)) < FEWEST_SAMPLES or len(set(answers)) < 2):
        said = ngettext(
            "You still have to label or decide %(n)d of these samples. Figures on so few or such similar samples "
            "would reveal the judge’s result.",
            "You still have to label or decide %(n)d of these samples. Figures on so few or such similar samples "
            "would reveal the judge’s results.",
            len(held_back),
        )
        raise Conflict("figures_would_tell", said % {"n": len(held_back)})
    return held_back


def may_know_names(reader: Reader, project: Project) -> bool:
    """Whether the reader may know who of the people said what. Others see letters, or an annotator without a name."""
    if isinstance(reader, GeneralReader) or project.show_names:
        return True
    return may(role_of(reader, project), "adjudication.names")


def annotator_numbers(project: Project) -> dict[str, str]:
    """What readers who may not know names call each rater beside figures: by the number that releases give them too."""
    names = Rater.objects.filter(project=project).order_by("pk").values_list("name", flat=True)
    return {name: _("Annotator %(letter)s") % {"letter": number} for number, name in enumerate(names, start=1)}


def require_unblind(reader: Reader, sample: Sample) -> None:
    """Raises Conflict."""
    if still_to_label(reader, sample):
        raise Conflict("still_to_label", why_held_back())


def without_held_back(rows: QuerySet[Row], *, reader: Reader) -> QuerySet[Row]:
    """Rows of what people said about samples (`sample`), without those about samples that the reader still has to
    label."""
    if isinstance(reader, GeneralReader):
        return rows
    return rows.exclude(sample__in=_tasks_ahead(reader).values("sample"))


def only_held_back(rows: QuerySet[Row], *, reader: Reader) -> QuerySet[Row]:
    """Those that `without_held_back` leaves out."""
    if isinstance(reader, GeneralReader):
        return rows.none()
    return rows.filter(sample__in=_tasks_ahead(reader).values("sample"))


def samples_not_to_label(
    samples: QuerySet[Sample], *, reader: Reader, within: tuple[int, int] | None = None
) -> QuerySet[Sample]:
    """Without those that the reader still has to label. For lists that are chosen or sorted by what people said.

    within: where the samples are after the first of these primary keys, and up to the second, no others are looked at.
    """
    if isinstance(reader, GeneralReader):
        return samples
    ahead = _tasks_ahead(reader)
    if within is not None:
        ahead = ahead.filter(sample__gt=within[0], sample__lte=within[1])
    return samples.exclude(pk__in=ahead.values("sample"))


def without_judges_held_back(rows: QuerySet[Row], *, reader: Reader) -> QuerySet[Row]:
    """The same of what judges said: without samples that the reader still has to label, or to decide about."""
    if isinstance(reader, GeneralReader):
        return rows
    samples = rows.order_by().values_list("sample", flat=True).distinct()
    held_back = samples_without_judges(reader, set(samples))
    # In one array: PostgreSQL takes at most 65,535 parameters.
    named = f'"{rows.model._meta.db_table}".sample_id <> ALL(%s)'
    return rows.extra(where=[named], params=[list(held_back)])  # noqa: S610 - a table of ours


def _tasks_ahead(user: User) -> QuerySet[Task]:
    own = Task.objects.filter(batch=OuterRef("batch"), sample=OuterRef("sample"), annotator=user)
    # Not by a join with the annotators: with 200 of them it has 200 rows for each task of a queue.
    theirs = Batch.annotators.through.objects.filter(user=user).values("batch")
    waiting = Q(annotator__isnull=True, batch__in=theirs) & ~Q(Exists(own)) & ~Q(met_in_round(user))
    tasks = Task.objects.filter(status__in=OPEN_TASK_STATUSES, batch__status__in=RUNNING_BATCH_STATUSES)
    return tasks.filter(Q(annotator=user) | waiting)


def why_held_back() -> str:
    return _("You still have to label this sample. Others’ labels are shown once you submit it.")


def why_judges_are_held_back() -> str:
    return _("Judge results for this sample are shown once all its units are labelled and decided.")
