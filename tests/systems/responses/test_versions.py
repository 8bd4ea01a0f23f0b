"""Versions are described by people and pipelines; one of a project is the baseline."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.core.errors import Conflict, Invalid
from annotate.models import AuditEntry
from systems.models import SystemVersion
from systems.responses.versions import Description, change_version, create_version
from tests.annotate.factories import World


def make(world: World, name: str = "v1", **said: Any) -> SystemVersion:
    return create_version(actor=world.alice, project=world.project, name=name, said=Description(**said))


def test_a_version_is_described_and_described_otherwise(world: World) -> None:
    version = make(
        world,
        configuration={"model": "m", "top_k": 5, "rerank": True, "alpha": 0.5},
        commit="abc",
        price={"input": 0.5},
        tags=["nightly"],
    )
    change_version(actor=world.alice, version=version, said=Description(parent_commit="aaa", tags=[], commit="abc"))
    stored = SystemVersion.objects.get()
    assert stored.configuration == {"model": "m", "top_k": 5, "rerank": True, "alpha": 0.5}
    assert (stored.commit, stored.parent_commit, stored.price, stored.tags) == ("abc", "aaa", {"input": 0.5}, [])
    assert (stored.created_by, stored.is_baseline) == (world.alice, False)
    noted = AuditEntry.objects.filter(action__startswith="version.").order_by("id")
    assert [(one.action, one.details) for one in noted] == [
        ("version.created", {}),
        ("version.changed", {"fields": ["parent_commit", "tags"]}),
    ]
    change_version(actor=world.alice, version=stored, said=Description(commit="abc"))
    assert AuditEntry.objects.filter(action="version.changed").count() == 1


def test_one_version_is_the_baseline(world: World) -> None:
    first, second = make(world, "v1", is_baseline=True), make(world, "v2")
    change_version(actor=world.alice, version=second, said=Description(is_baseline=True))
    assert list(SystemVersion.objects.filter(is_baseline=True)) == [second]
    first.refresh_from_db()
    assert not first.is_baseline
    make(world, "v3", is_baseline=True)
    assert [one.name for one in SystemVersion.objects.filter(is_baseline=True)] == ["v3"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"configuration": []}, "bad_configuration"),
        ({"configuration": {"a": None}}, "bad_configuration"),
        ({"configuration": {"": 1}}, "bad_configuration"),
        ({"configuration": {"a": "x" * 10_001}}, "bad_configuration"),
        ({"configuration": {"a": float("nan")}}, "bad_number"),
        ({"configuration": {"a": "\x00"}}, "bad_text"),
        ({"commit": 1}, "bad_commit"),
        ({"parent_commit": "x" * 101}, "bad_parent_commit"),
        ({"price": {"input": -1}}, "bad_price"),
        ({"price": {"input": float("inf")}}, "bad_price"),
        ({"price": {"cached": 1}}, "bad_price"),
        ({"tags": "nightly"}, "bad_tags"),
        ({"tags": ["a", "a"]}, "bad_tags"),
        ({"tags": [" "]}, "bad_tags"),
        ({"is_baseline": "yes"}, "bad_baseline"),
    ],
)
def test_what_can_be_no_description_is_refused(world: World, said: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make(world, **said)
    assert refusal.value.code == code
    assert not SystemVersion.objects.exists()


@pytest.mark.parametrize("name", ["", " v1", "v1@2", "x" * 101, 7])
def test_a_name_is_one_that_a_pipeline_can_push(world: World, name: Any) -> None:
    with pytest.raises(Invalid, match="version: must be 1 to 100"):
        make(world, name)


def test_a_name_comes_once(world: World) -> None:
    make(world)
    with pytest.raises(Conflict, match="Version “v1” is there already"):
        make(world)
