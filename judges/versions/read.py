"""The judges of a project, what a version is made of, and what differs between two versions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.blindness import Reader, samples_still_to_label
from annotate.core.errors import Invalid
from annotate.core.line_diff import Line, lines_between
from annotate.core.permissions import may
from annotate.core.rows import first_or_raise
from annotate.models import Project
from annotate.samples.read import samples_named
from judges.kinds.base import Config
from judges.kinds.registry import kind_named, runnable_kinds
from judges.models import Judge, JudgeVersion, VersionState
from judges.versions.learned_read import learned_by


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two versions differ. field: as a path ("config.prompt"). older, newer: None where it isn't
    there. lines: of two texts, line by line; otherwise empty."""

    field: str
    older: Any
    newer: Any
    lines: Sequence[Line] = ()


def members_of(kind: str, config: Config) -> Sequence[tuple[str, str]]:
    """The versions that a judge is made of: (judge's name, version's label)."""
    return kind_named(kind).members(config) if kind in runnable_kinds() else ()


def kept_on_top_of(version: JudgeVersion) -> list[JudgeVersion]:
    """The versions in use that are made of this one."""
    name = (version.judge.name, version.label)
    kept = JudgeVersion.objects.filter(judge__project=version.judge.project_id, state=VersionState.KEPT)
    others = kept.exclude(judge=version.judge_id).exclude(judge__kind="imported").select_related("judge")
    return [other for other in others.order_by("pk") if name in members_of(other.judge.kind, other.config)]


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """rows: the fields that differ, in the order of their paths. held_back: how many are left out, of what the reader
    may not know (`withheld`)."""

    rows: list[Difference]
    held_back: int


def version_diff(older: JudgeVersion, newer: JudgeVersion, *, reader: Reader, role: str | None) -> VersionDiff:
    found = _differences(older, newer)
    hidden = withheld(older, reader=reader, role=role) | withheld(newer, reader=reader, role=role)
    rows = [one for one in found if hidden.isdisjoint(one.field.split("."))]
    return VersionDiff(rows, len(found) - len(rows))


def _differences(older: JudgeVersion, newer: JudgeVersion) -> list[Difference]:
    before, after = (
        {"endpoint": version.endpoint and version.endpoint.name, **dict(_leaves(version.config, "config"))}
        for version in (older, newer)
    )
    found = []
    for field in sorted(before.keys() | after.keys()):
        old, new = before.get(field), after.get(field)
        # As in the hash, 1 is not true, and 1.0 is not 1.
        if repr(old) != repr(new):
            lines = lines_between(old, new) if isinstance(old, str) and isinstance(new, str) else ()
            found.append(Difference(field, old, new, lines))
    return found


def _leaves(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, child in node.items():
            yield from _leaves(child, f"{path}.{key}")
    elif isinstance(node, list) and any(isinstance(child, Mapping | list) for child in node):
        for index, child in enumerate(node):
            yield from _leaves(child, f"{path}.{index}")
    else:
        yield path, node


def judges_of(project: Project) -> QuerySet[Judge]:
    """By name, each with its versions."""
    return Judge.objects.filter(project=project).prefetch_related("versions").order_by("name")


def versions_of(judge: Judge) -> QuerySet[JudgeVersion]:
    """In the order in which they were made."""
    return JudgeVersion.objects.filter(judge=judge).select_related(
        "judge__project", "endpoint", "based_on", "created_by"
    )


def one_version(judge: Judge, number: int) -> JudgeVersion:
    return first_or_raise(versions_of(judge).filter(number=number), Http404(_("Version not found for this judge.")))


def one_judge(project: Project, judge_id: int) -> Judge:
    return first_or_raise(judges_of(project).filter(pk=judge_id), Http404(_("Judge not found in this project.")))


def judge_named(project: Project, name: str) -> Judge:
    """For command lines. Raises Invalid with a sentence that lists the judges."""
    judge = Judge.objects.filter(project=project, name=name).first()
    if judge is None:
        known = ", ".join(Judge.objects.filter(project=project).order_by("name").values_list("name", flat=True)[:20])
        raise Invalid(
            "unknown_judge",
            _("Judge “%(name)s” not found in “%(project)s”. Judges: %(known)s.")
            % {"project": project.slug, "name": name, "known": known or _("none yet")},
        )
    return judge


def withheld(version: JudgeVersion, *, reader: Reader, role: str | None) -> frozenset[str]:
    """The fields of its configuration that they may not know: "examples", since verdicts are for admins, and not of
    samples that these still have to label; "rules", where one comes from labels of such a sample."""
    learned = learned_by(version)
    names = learned.example_samples | learned.rule_samples
    keys = dict(samples_named(version.judge.project, names).values_list("pk", "external_id")) if names else {}
    ahead = {keys[pk] for pk in samples_still_to_label(reader, list(keys))}
    hidden = {
        "examples": learned.examples and (not may(role, "judges.run") or ahead & learned.example_samples),
        "rules": ahead & learned.rule_samples,
    }
    return frozenset(name for name, is_hidden in hidden.items() if is_hidden)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a version has of people's labels: how many rules and examples, from labels of how many samples. sources: of
    each rule the samples, by their own ids, with their keys; None for who may not know the rules."""

    rules: int
    examples: int
    samples: int
    sources: Mapping[str, Mapping[str, int]] | None


def learned_for(version: JudgeVersion, *, reader: Reader) -> Shown | None:
    """None for a version that has nothing of people's labels."""
    learned = learned_by(version)
    if not learned.rules and not learned.examples:
        return None
    keys = dict(samples_named(version.judge.project, learned.rule_samples).values_list("external_id", "pk"))
    sources = {
        rule: {name: keys[name] for name in sorted(samples) if name in keys} for rule, samples in learned.rules.items()
    }
    return Shown(
        rules=len(sources),
        examples=learned.examples,
        samples=len(learned.rule_samples | learned.example_samples),
        sources=None if samples_still_to_label(reader, list(keys.values())) else sources,
    )


def config_of(version: JudgeVersion, *, hidden: Collection[str]) -> Config:
    """Without the values of these fields (`withheld`): `rules` is null, and so is `examples.drawn`."""
    config = dict(version.config)
    if "examples" in hidden:
        config["examples"] = {**config["examples"], "drawn": None}
    return {**config, "rules": None} if "rules" in hidden else config
