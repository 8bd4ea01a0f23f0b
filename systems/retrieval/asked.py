"""The questions that a file of judgements or of rankings is about: those of one test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _

from annotate.core.errors import Invalid
from annotate.files.problems import FileError, RowError
from annotate.models import Project
from systems.models import QuestionRevision
from systems.questions.read import revisions_in

_MAX_NAME = 80


def set_option(options: Mapping[str, Any]) -> str:
    """The name of a test set, or of one of its numbers. Raises Invalid."""
    name = options.get("set")
    if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME:
        raise Invalid("bad_set_name", _("set: name the test set, such as support or support@1."))
    return name


class Asked:
    """Raises FileError where there is no such set."""

    def __init__(self, project: Project, set_name: str) -> None:
        self._set = set_name
        try:
            self._revisions = revisions_in(project, set_name)
        except Http404 as error:
            raise FileError("unknown_set", str(error)) from error

    @property
    def question_ids(self) -> list[int]:
        return [revision.question_id for revision in self._revisions.values()]

    def revision(self, name: str) -> QuestionRevision:
        """Raises RowError for a question that the set doesn't have."""
        revision = self._revisions.get(name)
        if revision is None:
            said = f"“{self._set}” has no such question. Import it first, or leave the row out."
            raise RowError("unknown_question", said, field="question", excerpt=name)
        return revision


class DocumentsOfFile:
    """Which row names which document of a question."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, int]] = {}

    def keep(self, question: str, document: str, number: int) -> None:
        """Raises RowError for one that another row has."""
        first = self._rows.setdefault(question, {}).setdefault(document, number)
        if first != number:
            said = f"Row {first} has this document for “{question[:80]}” already."
            raise RowError("duplicate_document", said, field="document", excerpt=document)
