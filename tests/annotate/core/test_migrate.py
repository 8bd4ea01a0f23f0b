"""What `migrate` makes anew of its models when one of them changes (annotate.management.commands.migrate)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import models
from django.db.migrations.state import ModelState, ProjectState

import annotate.management.commands.migrate  # noqa: F401 (it is what is tried)


@pytest.fixture
def state() -> ProjectState:
    """Pages of a book; rendered."""
    state = ProjectState()
    state.add_model(ModelState("shelf", "Book", {"id": models.AutoField(primary_key=True)}))
    state.add_model(ModelState("shelf", "Page", {"id": models.AutoField(primary_key=True), "book": to_book()}))
    assert state.apps.get_models()
    return state


def to_book() -> models.ForeignKey[Any, Any]:
    return models.ForeignKey("shelf.Book", models.CASCADE)


def add_title(state: ProjectState) -> None:
    state.add_field("shelf", "book", "title", models.TextField(default=""), preserve_default=True)


def test_a_field_makes_its_model_anew_and_no_other(state: ProjectState) -> None:
    book, page = state.apps.get_model("shelf", "Book"), state.apps.get_model("shelf", "Page")
    add_title(state)
    assert state.apps.get_model("shelf", "Book") is not book
    assert state.apps.get_model("shelf", "Book")._meta.get_field("title")
    assert state.apps.get_model("shelf", "Page") is page


def test_a_new_model_makes_no_other_anew(state: ProjectState) -> None:
    book = state.apps.get_model("shelf", "Book")
    state.add_model(ModelState("shelf", "Loan", {"id": models.AutoField(primary_key=True), "book": to_book()}))
    assert state.apps.get_model("shelf", "Loan")._meta.get_field("book").remote_field.model is book


def test_a_function_of_a_migration_gets_all_as_they_are(state: ProjectState) -> None:
    add_title(state)
    state.clear_delayed_apps_cache()  # what RunPython does first
    page = state.apps.get_model("shelf", "Page")
    assert page._meta.get_field("book").remote_field.model._meta.get_field("title")
    assert "shelf.Book.title" in str(page.objects.filter(book__title="x").query.where)


def test_a_column_that_others_refer_to_takes_them_with_it(state: ProjectState) -> None:
    """Theirs changes, too."""
    state.alter_field("shelf", "book", "id", models.BigAutoField(primary_key=True), preserve_default=True)
    page = state.apps.get_model("shelf", "Page")
    assert page._meta.get_field("book").target_field.get_internal_type() == "BigAutoField"
