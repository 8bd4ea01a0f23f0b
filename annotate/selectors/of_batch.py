"""Which verdicts are a batch's: those on what it asks about its samples. The one home of that rule.

A unit has one verdict, however many batches ask about it, and it is each of theirs: whichever batch a reviewer or an
export is narrowed to, nothing that was labelled there is missing. Verdict.batch names only the batch that last brought
votes; it counts here for a verdict that was carried over to a version of its criterion which the batch never asked.

Twice: for Django's queries, and for statements by hand. A test holds the two against each other.
"""

from __future__ import annotations

from django.db.models import Q, QuerySet

from annotate.models import Batch, BatchCriterion, BatchSample, Verdict

# Of `annotate_verdict e`, by the project's id and the batch's number. Rows of the batch, hashed once: nothing is looked
# up per unit.
_ID = "(SELECT id FROM annotate_batch WHERE project_id = %(project)s AND number = %(batch)s)"
OF_BATCH = f"""
    (e.batch_id = {_ID}
     OR e.sample_id IN (SELECT sample_id FROM annotate_batchsample WHERE batch_id = {_ID})
    AND e.criterion_id IN (SELECT criterion_id FROM annotate_batchcriterion WHERE batch_id = {_ID}))
"""


def of_batch(verdicts: QuerySet[Verdict], batch: Batch) -> QuerySet[Verdict]:
    asked = Q(
        sample__in=BatchSample.objects.filter(batch=batch).values("sample"),
        criterion__in=BatchCriterion.objects.filter(batch=batch).values("criterion"),
    )
    return verdicts.filter(asked | Q(batch=batch))
