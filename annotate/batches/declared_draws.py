"""How samples came that were labelled elsewhere: an admin's word, which certificates name (decision 29)."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.batches.draws_read import chance_in, elsewhere, in_column
from annotate.core.errors import Conflict, Invalid
from annotate.core.texts import is_storable
from annotate.core.trail import note
from annotate.models import Criterion, DeclaredDraw, Project, Sample, User
from annotate.models.batch import HowDeclared


def declare_draw(
    *, criterion: Criterion, how: str, population: int | None = None, column: str = "", actor: User | None = None
) -> DeclaredDraw | None:
    """The word on the labels that there are now, in place of an earlier one. None: nothing is known of them any more.

    how: "all"; "random", from `population` samples; "column", the metadata key with each sample's chance; or "unknown".
    Raises Invalid for what doesn't go together, and Conflict where no label was made elsewhere.
    """
    if how not in HowDeclared.values:
        raise Invalid("bad_how", _("how: must be one of %(known)s.") % {"known": ", ".join(HowDeclared.values)})
    if (population is not None) != (how == HowDeclared.RANDOM):
        raise Invalid("bad_population", _("Give the population size only if the samples were drawn at random."))
    if bool(column) != (how == HowDeclared.COLUMN):
        raise Invalid("bad_column", _("Give the metadata key only if the metadata hold each sample’s probability."))
    if not is_storable(column):
        raise Invalid("bad_column", _("column: must be text."))
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=criterion.project_id)
        said: dict[str, Any] = {"how": how}
        if how == HowDeclared.UNKNOWN:
            gone, _each = DeclaredDraw.objects.filter(project=project, key=criterion.key).delete()
            if gone:
                note(actor=actor, action="labels.declared", subject=criterion.key, project=project, **said)
            return None
        samples = elsewhere(criterion)
        labelled = samples.count()
        if not labelled:
            raise Conflict("nothing_elsewhere", _("“%(key)s” has no imported labels.") % {"key": criterion.key})
        if population is not None:
            _check_population(population, labelled)
            said["population"] = population
        if column:
            _check_column(samples, column)
            said["column"] = column
        declared, _made = DeclaredDraw.objects.update_or_create(
            project=project,
            key=criterion.key,
            defaults={
                "how": how,
                "labelled": labelled,
                "population": population,
                "column": column,
                "declared_at": timezone.now(),
                "declared_by": actor,
            },
        )
        note(actor=actor, action="labels.declared", subject=criterion.key, project=project, samples=labelled, **said)
    return declared


def _check_population(population: Any, labelled: int) -> None:
    if isinstance(population, bool) or not isinstance(population, int) or not labelled <= population < 2**31:
        said = _("The population must be at least the %(n)d samples with imported labels.")
        raise Invalid("bad_population", said % {"n": labelled})


def _check_column(samples: QuerySet[Sample], column: str) -> None:
    bad = [(name, said) for _key, name, said in in_column(samples.order_by("id"), column) if chance_in(said) is None]
    if not bad:
        return
    (name, said), given = bad[0], {"column": column[:80], "more": len(bad) - 1}
    given |= {"sample": name[:80], "said": "–" if said is None else str(said)[:80]}
    text = _("Sample “%(sample)s” has “%(said)s” in “%(column)s”. A probability must be above 0 and at most 1.")
    if len(bad) > 1:
        text = _(
            "Sample “%(sample)s” has “%(said)s” in “%(column)s”, and %(more)d more have no probability there. It "
            "must be above 0 and at most 1."
        )
    raise Invalid("bad_chance", text % given)
