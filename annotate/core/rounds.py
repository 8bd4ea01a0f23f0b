"""Who met a sample in a round, the training or the test of a qualification: they neither label it as an ordinary task
nor are measured by it again. And who may have tasks of a batch that requires a qualification (decision 47)."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from annotate.models import Candidate, Task, User

# For statements by hand; `{sample}` and `{user}` name columns.
MET_IN_ROUND = """
    EXISTS (SELECT FROM annotate_task met JOIN annotate_batch round ON round.id = met.batch_id
             WHERE met.sample_id = {sample} AND met.annotator_id = {user} AND round.qualification_id IS NOT NULL)
"""
# Whether a user may have tasks of a batch `b`.
MAY_HAVE_TASKS = """
    (b.requires_id IS NULL OR EXISTS (
        SELECT FROM annotate_candidate c
         WHERE c.qualification_id = b.requires_id AND c.user_id = {user} AND c.qualified_at IS NOT NULL))
"""


def met_in_round(user: User) -> Exists:
    """Of rows with a `sample`: the same as MET_IN_ROUND."""
    return Exists(Task.objects.filter(sample=OuterRef("sample"), annotator=user, batch__qualification__isnull=False))


def is_qualified(user: User) -> Exists:
    """Of batches: whether the user has the qualification that they require."""
    return Exists(Candidate.objects.filter(qualification=OuterRef("requires"), user=user, qualified_at__isnull=False))
