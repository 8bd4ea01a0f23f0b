"""manage.py migrate: Django's, which would take a database that stopped half-way through older migrations for done, and
take three times as long."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from annotate.management.base import OneLineCommand

# The last commit with the migrations that are one since.
_LAST_WITH_THEM = "d79ca33"


class Command(OneLineCommand, migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        refuse_half_way(MigrationLoader(connections[options["database"]]))
        super().handle(*args, **options)


def refuse_half_way(loader: MigrationLoader) -> None:
    """Raises CommandError when some of the migrations that another replaces were applied, and others were not: those
    are gone, and Django leaves out the whole app without a word."""
    for migration in loader.replacements.values():
        there = [name for name in migration.replaces if name in loader.applied_migrations]
        lacking = [name for name in migration.replaces if name not in loader.applied_migrations]
        if there and lacking:
            raise CommandError(
                f"This database was left half-way through an earlier upgrade: it has {_spelled(there[-1])}, but not "
                f"{_spelled(lacking[0])}, which this version no longer has. Take the commit {_LAST_WITH_THEM}, run "
                "`python manage.py migrate` there, and then this version's."
            )


def _spelled(migration: tuple[str, str]) -> str:
    return ".".join(migration)


def render_alone(state: ProjectState, app_label: str, model_name: str, delay: bool = False) -> None:
    """In place of `ProjectState.reload_model`, which makes anew what is related to the model as well, and here that is
    most of what there is. Where Django says that those may wait (`delay`), and where nothing can refer to the model
    yet, since it is new, they do: statements on tables need none of them, and before a function runs (`RunPython`)
    Django makes all anew."""
    if "apps" not in state.__dict__:  # it would be made by looking
        return
    if not delay and model_name in state.apps.all_models[app_label]:
        _render_with_related(state, app_label, model_name)
        return
    state.is_delayed = True
    with state.apps.bulk_update():
        state.apps.unregister_model(app_label, model_name)
    state.apps.render_multiple([state.models[app_label, model_name]])


_render_with_related = ProjectState.reload_model
ProjectState.reload_model = render_alone  # type: ignore[assignment, method-assign]
