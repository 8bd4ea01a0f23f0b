"""The same tree by what judges said: where to look first, and no figure about a system. No judge's word is corrected by
people's here, so each is named with what it may do.

Of each criterion one judge speaks: of those that answer with its options one that may decide, else the one that said
most about these responses. A score that needs a threshold to become an option answers nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from annotate.core.blindness import Reader, samples_without_judges
from annotate.core.scales import Value, normalise
from annotate.models import Criterion, Project
from annotate.verdicts.ratings_read import UnitKey
from judges.certificates.decision_read import PERMITTING, Looked, Ruling, looked_decisions
from judges.core.locked_read import locked_keys
from judges.core.scores_read import current_version, load_scores
from judges.models import Judge
from judges.proposals.values import proposers
from systems.diagnosis.cases import diagnosed_rows
from systems.diagnosis.mapping_read import FAILURE, mapping_of
from systems.diagnosis.read import DiagnosedResponses, Judged, asked_responses, names_by_key


def diagnosed_by_judges(project: Project, *, version: str = "", in_set: str = "", reader: Reader) -> DiagnosedResponses:
    """Without responses of which no one may know what judges say, since their sample is, or may come, on a test half
    (docs/decisions/0032-what-is-locked.md), and those that the reader has to decide about first. As `diagnosed`."""
    mapped = mapping_of(project)
    asking, held_back = asked_responses(project, version=version, in_set=in_set, reader=reader)
    ids = {one.sample: one.sample_id for one in asking if one.sample is not None}
    closed = samples_without_judges(reader, ids) | locked_keys(project, list(ids)).keys()
    shown = [one for one in asking if one.sample not in closed]
    keys = {name: pk for pk, name in ids.items() if pk not in closed and name is not None}
    names, looked = names_by_key(mapped), looked_decisions(project)
    said: dict[int, dict[str, dict[str, Value]]] = defaultdict(lambda: defaultdict(dict))
    judges = []
    for criterion in {one.criterion.key: one.criterion for one in mapped.asked.values()}.values():
        questions = [name for name in names[criterion.key] if name != FAILURE]
        found = _speaking(criterion, keys, looked, reader=reader) if questions else None
        if found is None:
            continue
        for (sample, unit), value in found.values.items():
            for name in questions:
                said[keys[sample]][name][unit] = value
        ruling = found.ruling
        decision, ended = (None, None) if ruling is None else (ruling.decision, ruling.ended)
        judges += [Judged(name, criterion, found.judge, found.version, decision, ended) for name in questions]
    rows = diagnosed_rows(mapped, shown, said, reader=reader)
    return DiagnosedResponses(mapped, rows, held_back + len(asking) - len(shown), True, judges)


@dataclass(frozen=True, slots=True)
class _Speaking:
    judge: str
    version: str
    values: Mapping[UnitKey, Value]
    ruling: Ruling | None

    @property
    def may_decide(self) -> bool:
        return self.ruling is not None and self.ruling.ended is None and self.ruling.decision["verdict"] in PERMITTING


def _speaking(criterion: Criterion, keys: Mapping[str, int], looked: Looked, *, reader: Reader) -> _Speaking | None:
    """None where no judge said anything of these samples. keys: by own id the primary key."""
    found = []
    for judge in Judge.objects.filter(project=criterion.project_id, name__in=proposers(criterion)).order_by("name"):
        version = current_version(judge)
        assert version is not None
        scores = load_scores(criterion, version, criterion.key, list(keys.values()), reader=reader)
        values: dict[UnitKey, Value] = {
            **scores.labels,
            **{unit: normalise(criterion, number) for unit, number in scores.numbers.items()},
        }
        # These are all of a version's scores when the samples are too many to be named.
        here = {unit: value for unit, value in values.items() if unit[0] in keys}
        ruling = looked.get((criterion.pk, judge.name, version.label, criterion.key))
        found.append(_Speaking(judge.name, version.label, here, ruling))
    return max((one for one in found if one.values), key=lambda one: (one.may_decide, len(one.values)), default=None)
