"""Which units are settled: what reports, looks, the drift watch, the lab and releases rest on unless they are asked for
the rest too. The one home of this rule ([decision 23](../../docs/decisions/0023-settled-units.md)).

The word of one person that nobody looked at settles nothing. A unit is settled when

- a reviewer answers for its value, having decided it (also where votes have changed since) or approved it (which was of
  the votes as they are); or
- two or more votes settled it, by the rule of its batch; or
- one vote did, and an admin said that single labels count: of its batch, or, of labels made elsewhere, by settling them
  with one label each; or
- it has no verdict, and two or more people labelled it elsewhere: the majority of their labels is its value, also while
  a batch asks about it. What is said in the batch waits for its verdict, or one person who is first in it could take
  the unit out of every figure, or turn its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from django.db.models import Case, F, Func, IntegerField, Q, TextField, Value, When
from django.db.models.lookups import GreaterThanOrEqual, LessThan

from annotate.models.label import DECIDED_METHODS, RULED_METHODS, VerdictState

if TYPE_CHECKING:
    from alignment.base.arrays import Bools, Ints
    from alignment.base.coded import Coded
    from alignment.report.units import ByUnit, UnitKey, Units


class Standing(StrEnum):
    """What a verdict's value rests on."""

    # A reviewer, or several votes.
    SETTLED = "settled"
    # One vote, which an admin said is enough.
    DECLARED = "declared"
    # One vote, which no one has looked at.
    SINGLE = "single"
    # Nothing yet: a reviewer has to decide.
    OPEN = "open"


HOLDING = (Standing.SETTLED, Standing.DECLARED)
# So many labels made elsewhere settle a unit by themselves.
SEVERAL = 2

_VOTES = Func(F("votes"), function="jsonb_array_length", output_field=IntegerField())
# Only settling labels of elsewhere leaves a verdict without a batch (annotate.labels.consensus.settle_imported). Where
# it has a single vote, the admin asked for one, and the vote was made elsewhere.
_DECLARED = Q(batch__isnull=True) | Q(batch__single_labels_at__isnull=False)

# Of a verdict: its standing, for annotate() and alias().
STANDING = Case(
    When(state=VerdictState.DISPUTED, then=Value(Standing.OPEN.value)),
    When(
        Q(method__in=DECIDED_METHODS) | Q(approved_at__isnull=False) | Q(GreaterThanOrEqual(_VOTES, 2)),
        then=Value(Standing.SETTLED.value),
    ),
    When(_DECLARED, then=Value(Standing.DECLARED.value)),
    default=Value(Standing.SINGLE.value),
    output_field=TextField(),
)

# Of a verdict: Standing.SINGLE, as an index has it (verdict_single). A test holds the two against each other.
SINGLE = Q(
    LessThan(_VOTES, 2),
    state=VerdictState.SETTLED,
    method__in=RULED_METHODS,
    approved_by__isnull=True,
    batch__isnull=False,
    batch__single_labels_at__isnull=True,
)
# Of `annotate_verdict e` that votes settled and that was not approved: SINGLE, for statements by hand, as an index has
# it (verdict_single). A test holds the two against each other.
IS_SINGLE = """
    (jsonb_array_length(e.votes) < 2
     AND EXISTS (SELECT FROM annotate_batch b WHERE b.id = e.batch_id AND b.single_labels_at IS NULL))
"""


def unsettled_units(
    units: Sequence[UnitKey], made_here: Sequence[bool] | Bools, standings: Mapping[UnitKey, str]
) -> ByUnit[Literal["single", "elsewhere", "open"]]:
    """Of the units of labels that count those that are not settled: with one label, given here or made elsewhere, or
    with several and still open.

    units, made_here: of each label its unit, and whether it was given in a task of this installation. standings: of the
    units that have a verdict.
    """
    import numpy as np

    from alignment.base.coded import Coded
    from alignment.report.units import ByUnit

    found = _counted(units, made_here, standings)
    why = np.where(found.labels > 1, 2, found.elsewhere > 0)
    return ByUnit(found.units, ~found.holds & ~found.by_elsewhere, Coded(["single", "elsewhere", "open"], why))


def waiting_labels(
    units: Sequence[UnitKey], made_here: Sequence[bool] | Bools, standings: Mapping[UnitKey, str]
) -> Coded[bool]:
    """Of each label whether it waits for the verdict of its batch, while labels made elsewhere are the unit's value.
    As `unsettled_units`."""
    import numpy as np

    from alignment.base.coded import Coded

    found = _counted(units, made_here, standings)
    return Coded([False, True], found.by_elsewhere[found.unit] & np.array(made_here, dtype=np.bool_))


class _Counted(NamedTuple):
    """unit: of each label its place among the units. Of each of these: how many labels it has, and how many made
    elsewhere; whether its verdict holds; whether it has none, and those made elsewhere settle it."""

    units: Units
    unit: Ints
    labels: Ints
    elsewhere: Ints
    holds: Bools
    by_elsewhere: Bools


def _counted(units: Sequence[UnitKey], made_here: Sequence[bool] | Bools, standings: Mapping[UnitKey, str]) -> _Counted:
    import numpy as np

    from alignment.report.units import ByUnit, Units

    names = Units.of(units)
    unit = names.places(units)
    elsewhere = np.bincount(unit[~np.array(made_here, dtype=np.bool_)], minlength=len(names))
    standing = ByUnit[str].of(names, standings, object)
    holding = standing.read_as(HOLDING.__contains__, np.bool_)
    return _Counted(
        units=names,
        unit=unit,
        labels=np.bincount(unit, minlength=len(names)),
        elsewhere=elsewhere,
        holds=holding.known & holding.values_at,
        by_elsewhere=(elsewhere >= SEVERAL) & ~standing.known,
    )
