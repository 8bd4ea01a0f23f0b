"""Releases: a numbered file of ground truth that never changes, and a manifest that says what is in it."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from kombu.exceptions import OperationalError

from annotate.core import stored
from annotate.core.background import hand_over
from annotate.core.blindness import SYSTEM, samples_still_to_label
from annotate.core.errors import Conflict, Invalid, Unavailable
from annotate.core.jobs import ask_for, end
from annotate.core.rows import snapshot
from annotate.core.trail import note
from annotate.core.version import touchstone_version
from annotate.files.export_rows import (
    SAMPLES,
    TEXTS,
    Annotators,
    ExportedSample,
    Filters,
    annotators_of,
    exported_samples,
    names_only,
)
from annotate.files.export_samples import SAMPLE_WRITERS, sample_rows
from annotate.files.export_texts import TEXT_WRITERS, text_rows, texts_of
from annotate.files.export_writers import RELEVANCE, SUFFIXES, TABLES, WRITERS
from annotate.labels.settled_read import STANDING, Standing
from annotate.models import AuditEntry, Criterion, Job, Label, Project, Release, Sample, User
from annotate.models.job import JobKind
from annotate.models.label import VerdictState
from annotate.models.project import UNRATED_SCALES, Prefill, Scale
from annotate.samples.read import abstentions
from annotate.verdicts.evidence_read import agreement

_FOLDER = "releases"
# A row is small, and handing it to the system takes longer than making it.
_BUFFER = 1 << 20
# Of a project with more samples a release is made by the worker, where a program asks for it.
INLINE_SAMPLES = 2_000


@dataclass
class _Tally:
    """Counts what passes through on its way to the writer."""

    samples: int = 0
    methods: Counter[str] = field(default_factory=Counter)
    _criteria: dict[int, Criterion] = field(default_factory=dict)
    _verdicts: Counter[int] = field(default_factory=Counter)

    def watch(self, exported: Iterable[ExportedSample]) -> Iterator[ExportedSample]:
        for one in exported:
            self.samples += 1
            for verdict in one.verdicts:
                criterion = verdict.criterion
                self.methods[verdict.method or verdict.state] += 1
                self._verdicts[criterion.id] += 1
                self._criteria[criterion.id] = criterion
            yield one

    @property
    def verdicts(self) -> int:
        return self._verdicts.total()

    @property
    def criteria(self) -> dict[str, Criterion]:
        """Those with verdicts, sorted by their name and version."""
        found = {f"{criterion.key} v{criterion.version}": criterion for criterion in self._criteria.values()}
        return {name: found[name] for name in sorted(found)}

    @property
    def counts(self) -> list[dict[str, Any]]:
        return [
            {
                "key": criterion.key,
                "version": criterion.version,
                "unit": criterion.unit,
                "scale": criterion.scale,
                "verdicts": self._verdicts[criterion.id],
            }
            for criterion in self.criteria.values()
        ]


def request_release(*, project: Project, user: User, file_format: str, filters: object = None) -> Job:
    """Has the worker make the release. Raises as `make_release`, but for nothing to export, which the job says; and
    Unavailable."""
    _chosen(project, file_format, filters)
    asked = {"format": file_format, "filters": filters}
    job, _is_new = ask_for(project=project, user=user, kind=JobKind.RELEASE, asked=asked)
    return job


def make_requested(job: Job) -> Release:
    asked = job.asked
    return make_release(
        project=job.project, user=job.created_by, file_format=asked["format"], filters=asked["filters"], job=job
    )


def takes_time(project: Project) -> bool:
    """Whether a release of it may take longer than somebody who asks for it wants to wait."""
    return Sample.objects.filter(project=project).count() > INLINE_SAMPLES


def make_release(
    *, project: Project, user: User | None, file_format: str, filters: object = None, job: Job | None = None
) -> Release:
    """Writes the file on this disk from one snapshot, stores and numbers it; the manifest holds the agreement of the
    same moment. job: what asked for it, which ends together with its being numbered.

    Raises Invalid for an unknown format or filter and Conflict when there is nothing to export.
    """
    chosen = _chosen(project, file_format, filters)
    stored_as = f"{_FOLDER}/{uuid.uuid4()}.{SUFFIXES[file_format]}"
    with TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / "release"
        with path.open("xb", buffering=_BUFFER) as file:
            manifest = _write(file, project, file_format, chosen)
        with stored.Written(path) as written:
            manifest["sha256"] = hashlib.file_digest(written, "sha256").hexdigest()
            manifest["bytes"] = written.size
            with stored.kept(stored_as, written):
                release = _number(project, user, file_format, chosen, manifest, stored_as)
                if job is not None:
                    end(job, release.number)
                return release


def _chosen(project: Project, file_format: str, filters: object) -> Filters:
    if file_format not in WRITERS:
        raise Invalid("unknown_format", f"format: write {', '.join(WRITERS)}.")
    chosen = Filters.read({} if filters is None else filters, project)
    if chosen.annotators is not None and file_format not in TABLES:
        raise Invalid(
            "bad_filters",
            _("One column per annotator is available only for: %(formats)s.") % {"formats": ", ".join(TABLES)},
        )
    if chosen.rows == TEXTS and file_format not in TEXT_WRITERS:
        said = _("Free text can be exported as: %(formats)s.")
        raise Invalid("bad_filters", said % {"formats": ", ".join(TEXT_WRITERS)})
    if chosen.rows == SAMPLES and file_format not in SAMPLE_WRITERS:
        said = _("Samples can be exported as: %(formats)s.")
        raise Invalid("bad_filters", said % {"formats": ", ".join(SAMPLE_WRITERS)})
    if file_format == "qrels":
        chosen = _only_relevance(chosen)
    return chosen


def _write(file: IO[bytes], project: Project, file_format: str, filters: Filters) -> dict[str, Any]:
    tally = _Tally()
    with snapshot():
        annotators = annotators_of(project, filters.apply(project), filters.annotators)
        if filters.rows == TEXTS:
            annotators, texts = names_only(project, filters.annotators), texts_of(project, filters)
            rows = TEXT_WRITERS[file_format](text_rows(texts, annotators), file)
            tally.samples = len(set(texts.values_list("sample", flat=True)))
        elif filters.rows is None:
            exported = exported_samples(project, filters, whole=file_format not in TABLES)
            rows = WRITERS[file_format](tally.watch(exported), file, annotators)
        else:
            rows = tally.samples = SAMPLE_WRITERS[file_format](sample_rows(project, filters, file_format), file)
        states = _states(project, filters)
        agreed = _agreement(tally.criteria, annotators)
        abstained = abstentions(project, batch=filters.batch)
    if not rows and filters.rows == TEXTS:
        raise Conflict("nothing_to_export", _("No free text to export."))
    if not rows and filters.rows == SAMPLES:
        raise Conflict("nothing_to_export", _("No samples to export."))
    if not rows:
        raise Conflict("nothing_to_export", _("Nothing to export: no resolved verdicts match these filters."))
    return {
        "rows": rows,
        "samples": tally.samples,
        "verdicts": tally.verdicts,
        "criteria": tally.counts,
        "methods": dict(sorted(tally.methods.items())),
        "abstained": abstained,
        "agreement": agreed,
        **({"annotators": list(annotators.columns.values())} if annotators.columns else {}),
        **states,
    }


def _states(project: Project, filters: Filters) -> dict[str, Any]:
    """How much of what people have looked at is settled, also when only that is exported."""
    everything = Filters(filters.criteria, filters.batch, include_disputed=True, include_single=True).apply(project)
    counts = everything.alias(standing=STANDING).aggregate(
        single=Count("pk", filter=Q(standing=Standing.SINGLE)),
        units=Count("pk"),
        settled=Count("pk", filter=Q(state=VerdictState.SETTLED)),
        disputed=Count("pk", filter=Q(state=VerdictState.DISPUTED)),
        reopened=Count("pk", filter=Q(state=VerdictState.REOPENED)),
    )
    # What one label settled and no one looked at is no ground truth, and counted by itself.
    counts["settled"] -= counts["single"]
    share = counts["settled"] / counts["units"] if counts["units"] else None
    return {"states": counts, "percent_settled": None if share is None else round(100 * share, 2)}


def _agreement(criteria: Mapping[str, Criterion], annotators: Annotators) -> dict[str, Any]:
    """How well the people agreed on what is exported: for each criterion that has figures, all those of `manage.py
    agreement`."""
    found = {}
    for name, criterion in criteria.items():
        if criterion.scale in UNRATED_SCALES:
            continue
        figures = agreement(criterion, reader=SYSTEM)
        found[name] = {field: figures[field] for field in ("units", "ratings", "raters", "estimates")}
        found[name]["raters"] = annotators.names(found[name]["raters"])
    return found


def _only_relevance(filters: Filters) -> Filters:
    if filters.criteria is not None and filters.criteria != (RELEVANCE,):
        raise Invalid("bad_filters", _("qrels use only the criterion “%(relevance)s”.") % {"relevance": RELEVANCE})
    if filters.include_disputed:
        raise Invalid("bad_filters", _("qrels include only resolved verdicts."))
    return Filters((RELEVANCE,), filters.batch, filters.methods)


def _number(
    project: Project, user: User | None, file_format: str, filters: Filters, manifest: dict[str, Any], stored_as: str
) -> Release:
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        last = Release.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
        created = timezone.now()
        described = {
            "project": project.slug,
            "name": project.name,
            "number": last + 1,
            "format": file_format,
            "filters": filters.as_dict(),
            "created_at": created.isoformat(),
            "created_by": user.username if user else None,
            "made_with": {"touchstone": touchstone_version(), "pyarrow": version("pyarrow")},
            **manifest,
        }
        release = Release.objects.create(
            project=project,
            number=last + 1,
            file_format=file_format,
            filters=filters.as_dict(),
            manifest=described,
            stored_as=stored_as,
            created_by=user,
        )
        _note(release, "created", user, rows=manifest["rows"], sha256=manifest["sha256"])
        return release


def hand_out(release: Release, *, actor: User) -> File[bytes]:
    """The file for a download, which the worker notes in the trail: a download is a GET, and changes no row.

    Raises as `open_release`; Conflict while the actor still has samples of it to label, about which it says what others
    said; and Unavailable when the worker can't be told: no file leaves without a note.
    """
    _require_told(release, actor)
    file = open_release(release)
    try:
        hand_over("annotate.tasks.note_download", release.pk, actor.pk, timezone.now().isoformat())
    except OperationalError as error:
        file.close()
        raise Unavailable(
            "no_broker",
            _("The worker can’t be reached, so this download can’t be recorded in the audit log. Try again later."),
        ) from error
    return file


def _require_told(release: Release, actor: User) -> None:
    if release.filters.get("rows") in (SAMPLES, TEXTS):
        # Also one that was taken back since. Samples come with what annotators corrected their answers to.
        written = Label.objects.filter(criterion__project=release.project, criterion__scale=Scale.TEXT)
        if release.filters["rows"] == SAMPLES:
            written = written.filter(criterion__prefill=Prefill.ANSWER)
        _require_submitted(actor, set(written.values_list("sample", flat=True)))
        return
    given = {name: value for name, value in release.filters.items() if name in ("criteria", "batch")}
    # Whatever state they are in now: what was settled then may be disputed again, or rest on a single label, and an
    # answer may abstain since.
    everything = replace(Filters.read(given, release.project), include_disputed=True, include_single=True)
    verdicts = everything.with_abstentions(release.project)
    _require_submitted(actor, set(verdicts.order_by().values_list("sample", flat=True)))


def _require_submitted(actor: User, samples: set[int]) -> None:
    blind = len(samples_still_to_label(actor, samples))
    if blind:
        said = ngettext(
            "This release has others’ labels on %(n)d sample that you still have to label. Submit it to get access.",
            "This release has others’ labels on %(n)d samples that you still have to label. Submit them to get access.",
            blind,
        )
        raise Conflict("still_to_label", said % {"n": blind})


def note_download(release_id: int, actor_id: int, at: str) -> None:
    """at: when the file was handed out. Once for each time, however often the worker is told."""
    release = Release.objects.select_related("project").get(pk=release_id)
    with transaction.atomic():
        # Of two workers that were told the same, the second waits here.
        Project.objects.select_for_update(no_key=True).get(pk=release.project_id)
        noted = AuditEntry.objects.filter(
            project=release.project, created_at__gte=at, actor=actor_id, action="release.downloaded", details__at=at
        )
        if not noted.exists():
            _note(release, "downloaded", User.objects.get(pk=actor_id), at=at)


def _note(release: Release, what: str, actor: User | None, **details: Any) -> None:
    note(
        actor=actor,
        action=f"release.{what}",
        subject=str(release.number),
        project=release.project,
        format=release.file_format,
        **details,
    )


def open_release(release: Release) -> File[bytes]:
    """The file as it was written. Raises Conflict when it is no longer stored."""
    try:
        return stored.open_file(release.stored_as)
    except FileNotFoundError:
        raise Conflict(
            "file_gone", _("The file of this release is no longer on the server. Its manifest is still available.")
        ) from None


def download_name(release: Release) -> str:
    what = f"{release.filters['rows']}-" if release.filters.get("rows") else ""
    return f"{release.project.slug}-{release.number}-{what}{release.file_format}.{SUFFIXES[release.file_format]}"
