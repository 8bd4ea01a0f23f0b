"""People say whether an answer abstains; what a rule or a file said of it gives way."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.core.errors import Conflict
from annotate.core.trail import note
from annotate.models import Project, Sample, User
from annotate.models.sample import AbstainedSource
from annotate.samples.claims_read import batches_at_work, may_know, why_fixed
from annotate.samples.claims_write import locked_sample


def set_abstained(*, actor: User, project: Project, sample_id: int, abstained: bool) -> Sample:
    """The answer abstains, and then has no claims; or it does not. Labels and scores of its claims stay stored: they
    count again as soon as it is an answer again. Saying the same again changes nothing.

    Raises Http404, Conflict (there is no answer, or a batch asks people about its claims now).
    """
    with transaction.atomic():
        sample = locked_sample(project, sample_id)
        if sample.abstained is None:
            raise Conflict("no_answer", _("This sample has no answer, so it can’t abstain."))
        if sample.abstained == abstained and sample.abstained_source == AbstainedSource.PERSON:
            return sample
        if sample.abstained != abstained and (batches := list(batches_at_work(sample))):
            raise Conflict("claims_in_use", why_fixed(batches, told=may_know(actor, sample)))
        before = {"before": sample.abstained, "before_source": sample.abstained_source}
        sample.abstained, sample.abstained_source = abstained, AbstainedSource.PERSON
        sample.save(update_fields=["abstained", "abstained_source"])
        action = "sample.abstained" if abstained else "sample.answered"
        note(actor=actor, action=action, subject=sample.external_id, project=project, **before)
        return sample
