"""For an app that builds on this one and keeps something of a project: it is copied when the project is duplicated."""

from __future__ import annotations

from django.utils.module_loading import import_string

from annotate.models import Project, User

# Dotted paths, so that an app can register before models are loaded.
_copies: list[str] = []


def copy_too(copy: str) -> None:
    """Called by the app when it is ready. copy: a function of actor, project and made."""
    _copies.append(copy)


def copy_what_others_keep(*, actor: User, project: Project, made: Project) -> None:
    """made: has the criteria and the endpoints of the project already."""
    for copy in _copies:
        import_string(copy)(actor=actor, project=project, made=made)
