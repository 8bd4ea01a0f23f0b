"""A project is deleted with all its data, or not at all; the one next door keeps everything."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, transaction
from django.http import Http404
from django.utils import timezone

from annotate.batches.archiving import archive_project
from annotate.core import advisory
from annotate.core.errors import Invalid
from annotate.core.permissions import BeingDeleted, project_for
from annotate.core.rows import execute, fetch_all
from annotate.files.import_queue import to_do
from annotate.members.resets import create_reset, find_reset
from annotate.members.write import create_invite, find_invite
from annotate.models import (
    AuditEntry,
    ClaimEdit,
    DeclaredDraw,
    ImportJob,
    Label,
    LabelEvent,
    LeftFile,
    LessonRead,
    Project,
    Release,
    Sample,
    SavedView,
    UploadPart,
    User,
    Verdict,
    VerdictEvent,
)
from annotate.projects.deleted_read import being_deleted, deletions
from annotate.projects.deletion import delete_waiting, look_for_deletions, tables_of_projects
from annotate.projects.read import projects_of
from annotate.projects.trail_read import read_filter, trail
from judges.core.requirement import require
from judges.models import Certificate, GroupSide, Look, Reply, Run, RunState
from judges.reports.links import create_link, shared_report
from judges.reports.write import freeze_report
from judges.runs.project_deletion import delete_project
from tests.annotate.api.conftest import Both, _both
from tests.annotate.factories import concurrently
from tests.clients import as_user, client_of

# Of the installation: accounts, what Django keeps, and what is noted of deletions.
OUTSIDE = {
    "annotate_user", "annotate_auditentry", "annotate_auditchain", "django_migrations", "django_content_type",
    "auth_permission",
}  # fmt: skip


@pytest.fixture
def both(transactional_db: None) -> Both:
    both = _both()
    for place in (both.own, both.foreign):
        _more(Project.objects.get(slug=place["slug"]), place)
    return both


def _more(project: Project, place: dict[str, Any]) -> None:
    """What the world of the API's tests has nothing of."""
    admin = project.memberships.get(role="admin").user
    criterion = project.criteria.get(key=place["key"], is_current=True)
    sample = Sample.objects.get(pk=place["sample_id"])
    verdict = Verdict.objects.get(pk=place["verdict_id"])
    run = Run.objects.get(pk=place["run_id"])
    report = freeze_report(criterion=criterion)
    create_link(actor=admin, report=report)
    require(actor=admin, criterion=criterion, measure="kappa", bar=0.5, risk=0.1, coverage=0.9)
    look = Look.objects.create(
        project=project, criterion_key=criterion.key, criterion=criterion, judge=run.version.judge,
        version=run.version, dimension=criterion.key, number=1, level=0.9, promise=1, fingerprint="f", result={},
        samples={},
    )  # fmt: skip
    Certificate.objects.create(project=project, number=1, look=look, judge_hash="h")
    GroupSide.objects.get_or_create(project=project, criterion_key=criterion.key, group="g", side="dev")
    Reply.objects.create(project=project, key="k", body={}, latency=1)
    LessonRead.objects.create(verdict=verdict, user=admin, revision=1)
    ClaimEdit.objects.create(sample=sample, revision=9, change={"op": "edit"}, claims=[], actor=admin)
    create_reset(actor=admin, project=project, user=User.objects.get(username=place["username"]))
    DeclaredDraw.objects.create(project=project, key="k", how="all", labelled=1, declared_at=timezone.now())
    SavedView.objects.create(project=project, owner=admin, name="v", conditions={"q": "a"}, is_shared=True)
    part = UploadPart.objects.create(job=project.imports.get(status="arriving"), start=0)
    for made in (part, project.imports.get(status="failed"), project.releases.get()):
        if not made.stored_as:
            made.stored_as = f"imports/{uuid.uuid4()}"
            made.save(update_fields=["stored_as"])
        default_storage.save(made.stored_as, ContentFile(b"{}\n"))


def rows() -> dict[str, set[str]]:
    """Every row of every table, as text."""
    tables = connection.introspection.table_names()
    return {name: {row for (row,) in fetch_all(f'SELECT t::text FROM "{name}" t')} for name in tables}


def begin(both: Both, **fields: Any) -> Project:
    world = both.world
    delete_project(actor=fields.get("actor", world.alice), project=world.project, name=world.project.name)
    world.project.refresh_from_db()
    return world.project


def files() -> set[str]:
    return {name for folder in ("imports", "releases") for name in default_storage.listdir(folder)[1]}


def test_all_data_are_gone_and_nothing_else(both: Both) -> None:
    world = both.world
    for archived in (False, True):
        if archived:
            world.project = world.other
            world.alice = world.dora
            archive_project(actor=world.dora, project=world.project)
        jobs = ImportJob.objects.filter(project=world.project)
        made = (*jobs.filter(received=None), *UploadPart.objects.filter(job__in=jobs))
        stored = (*made, *Release.objects.filter(project=world.project))
        own = {one.stored_as.partition("/")[2] for one in stored}
        tables = [table for table in tables_of_projects() if table._meta.db_table not in OUTSIDE]
        before, kept = rows(), files()
        assert own
        assert own <= kept
        pk = world.project.pk
        begin(both)
        look_for_deletions()
        after = rows()
        assert files() == kept - own
        for name in before.keys() - OUTSIDE - {"annotate_project"}:
            assert after[name] <= before[name], name
            is_own = any(table._meta.db_table == name for table in tables)
            assert (len(after[name]) < len(before[name])) == (is_own and bool(before[name])), name
        assert not Project.objects.filter(pk=pk).exists()
        assert not AuditEntry.objects.filter(project=pk).exists()
    assert Project.objects.count() == 0
    left = {name for name, found in rows().items() if found} - OUTSIDE
    assert not {table._meta.db_table for table in tables_of_projects()} & left
    assert not LeftFile.objects.exists()


def test_every_table_that_leads_to_a_project_is_known(db: None) -> None:
    """As PostgreSQL has them, whatever Django's models say."""
    found = {"annotate_project"}
    keys = fetch_all(
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'"
    )
    while more := {table for table, refers_to in keys if refers_to in found and table not in found}:
        found |= more
    assert found - {"annotate_project"} == {table._meta.db_table for table in tables_of_projects()}
    columns = fetch_all("SELECT table_name::text FROM information_schema.columns WHERE column_name = 'project_id'")
    assert {name for (name,) in columns} <= found
    stored = fetch_all("SELECT table_name::text FROM information_schema.columns WHERE column_name = 'stored_as'")
    assert {name for (name,) in stored} <= found | {"annotate_leftfile"}


def _at_once(*statements: str) -> None:
    with transaction.atomic():
        for statement in statements:
            execute(statement)


def test_a_row_goes_with_its_project_only(both: Both) -> None:
    kept = {
        LabelEvent: LabelEvent.objects, VerdictEvent: VerdictEvent.objects, Label: Label.objects,
        Verdict: Verdict.objects, Release: Release.objects, ClaimEdit: ClaimEdit.objects,
        AuditEntry: AuditEntry.objects.filter(project__isnull=False),
    }  # fmt: skip
    for model, of_all in kept.items():
        table, pk = model._meta.db_table, of_all.order_by("pk").values_list("pk", flat=True)[0]
        with pytest.raises(DatabaseError, match="is refused"):
            execute(f"DELETE FROM {table} WHERE id = %s", [pk])
        with pytest.raises(DatabaseError, match="is refused"):
            execute(f"DELETE FROM {table}")
    # Neither without its sample, nor by taking its project away for a moment.
    with pytest.raises(DatabaseError, match="is refused"):
        _at_once(
            f"DELETE FROM annotate_sample WHERE id = {both.own['sample_id']}",
            f"DELETE FROM annotate_label WHERE sample_id = {both.own['sample_id']}",
        )
    with pytest.raises(DatabaseError, match="foreign key"):
        _at_once(
            f"DELETE FROM annotate_project WHERE id = {both.world.project.pk}",
            "DELETE FROM annotate_labelevent WHERE id = (SELECT min(id) FROM annotate_labelevent)",
        )
    begin(both)
    look_for_deletions()
    with pytest.raises(DatabaseError, match="is refused"):
        execute("DELETE FROM annotate_auditentry WHERE project_id IS NULL")


def test_no_one_finds_it_from_then_on(both: Both) -> None:
    world = both.world
    _invite, invitation = create_invite(actor=world.alice, project=world.project, role="annotator")
    _reset, reset = create_reset(actor=world.alice, project=world.project, user=world.ben)
    report = world.project.reports.first()
    assert report is not None
    _link, address = create_link(actor=world.alice, report=report)
    waiting = ImportJob.objects.create(project=world.project, kind="samples", status="waiting", file_name="f")
    assert to_do(set()) == [waiting.pk]
    Run.objects.filter(pk=both.own["run_id"]).update(state=RunState.RUNNING)
    project = begin(both)
    superuser = User.objects.create_superuser("root")
    for user in (world.alice, world.rita, world.ann, superuser):
        assert project not in projects_of(user)
        with pytest.raises(BeingDeleted):
            project_for(user, project.slug, "project.read")
        assert as_user(user).get("/").status_code == 200
        assert as_user(user).get(f"/p/{project.slug}/").status_code == 403
    with pytest.raises(Http404):
        project_for(world.charlie, project.slug, "project.read")
    for find, token in ((find_invite, invitation), (find_reset, reset), (shared_report, address)):
        with pytest.raises(Http404):
            find(token)
    assert to_do(set()) == []
    assert Run.objects.get(pk=both.own["run_id"]).state == RunState.CANCELLED
    # Who is labelling is told, before and after.
    said = {"unit": "answer", "criterion": "grade", "value": 3}
    for code in (409, 404):
        headers = {"HTTP_IF_MATCH": "0", "HTTP_IDEMPOTENCY_KEY": str(uuid.uuid4())}
        reply = client_of(world.ann).put(f"/api/tasks/{both.own['task_id']}/labels/", said, **headers)
        assert reply.status_code == code, reply.content
        look_for_deletions()


def test_the_deletion_is_noted_outside_of_the_project(both: Both) -> None:
    world = both.world
    superuser = User.objects.create_superuser("root")
    project = begin(both)
    assert [being_deleted(user).count() for user in (world.alice, superuser, world.dora)] == [1, 1, 0]
    look_for_deletions()
    (noted,) = deletions(superuser)
    assert list(deletions(world.alice)) == [noted]
    assert not deletions(world.dora).exists()
    assert (noted.actor, noted.subject, noted.details["slug"]) == (world.alice, project.name, project.slug)
    assert noted.details["samples"] == 2
    assert noted.details["labels"] > 0
    # Nor do admins of another project that she is a member of learn of it.
    world.other.memberships.create(user=world.alice, role="admin")
    told = trail(project=world.other, reader=world.dora, asked=read_filter(world.other))
    assert "project.deleted" not in {row.action for row in told.rows}


def test_another_name_deletes_nothing(both: Both) -> None:
    for name in ("", "desk ", both.world.other.name):
        with pytest.raises(Invalid, match="not the project’s name"):
            delete_project(actor=both.world.alice, project=both.world.project, name=name)
    look_for_deletions()
    assert Project.objects.count() == 2


def test_it_waits_for_an_import_that_is_being_written(both: Both) -> None:
    project = begin(both)
    with transaction.atomic():
        advisory.begin_import(project.pk, wait=True)
        assert concurrently(lambda: delete_waiting(project.pk)) == [False]
    assert delete_waiting(project.pk)
    assert not delete_waiting(project.pk)


def test_what_fails_leaves_everything(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a table that no model knows refers to a sample."""
    project = begin(both)
    before = {name: found for name, found in rows().items() if name not in OUTSIDE}
    execute("CREATE TABLE unknown_to_us (sample_id bigint REFERENCES annotate_sample)")
    try:
        execute("INSERT INTO unknown_to_us VALUES (%s)", [both.own["sample_id"]])
        assert not delete_waiting(project.pk)
        noted = deletions(both.world.alice).get()
        assert noted.action == "project.delete_failed"
        project.refresh_from_db()
        assert project.deleting_at is None
        assert project in projects_of(both.world.alice)
        after = rows()
        for name in before.keys() - {"annotate_project", "annotate_batch"}:
            assert after[name] == before[name], name
        # Trainings and tests, which no page resumes, go on; other batches stay paused until they are resumed.
        rounds = {row for row in before["annotate_batch"] if '"A round"' in row}
        resumed = {row.replace(",paused,", ",open,") for row in rounds}
        assert rounds != resumed
        assert after["annotate_batch"] == before["annotate_batch"] - rounds | resumed
        assert files()
    finally:
        execute("DROP TABLE unknown_to_us")
