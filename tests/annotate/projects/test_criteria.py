from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annotate.core.errors import Conflict, Invalid
from annotate.core.scales import normalise
from annotate.models import Criterion
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA
from annotate.projects.criteria import RESERVED_HOTKEYS, add_criteria, check_spec
from tests.annotate.factories import GRADE, TRISTATE, World, make_sample, make_samples, say


@pytest.mark.parametrize("key", BUILTIN_CRITERIA)
def test_every_built_in_criterion_is_valid(key: str) -> None:
    spec = check_spec(key)
    assert spec["key"] == key
    criterion = Criterion(**{("passes" if field == "pass" else field): value for field, value in spec.items()})
    values = [normalise(criterion, level) for level in criterion.levels]
    if not criterion.is_text:
        assert any(value in criterion.passes for value in values)
        assert not all(value in criterion.passes for value in values)
    assert spec == check_spec({field: value for field, value in spec.items() if value or isinstance(value, bool)})


def test_all_built_in_criteria_fit_one_project(world: World) -> None:
    add_criteria(project=world.other, specs=list(BUILTIN_CRITERIA))
    positions = list(world.other.criteria.order_by("position").values_list("position", flat=True))
    assert positions == list(range(len(BUILTIN_CRITERIA) + 1))


def spec(**changes: Any) -> dict[str, Any]:
    return {field: value for field, value in {**TRISTATE, **changes}.items() if value is not ...}


def options(*given: Any) -> dict[str, Any]:
    return spec(options=list(given), **{"pass": []})


def one_option(**fields: Any) -> dict[str, Any]:
    return options({"value": "a"}, {"value": "b", **fields})


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        (5, "object"), (None, "object"), ([], "object"), ("supports", "not a built-in"), ("", "not a built-in"),
        (spec(colour="red"), "colour"), (spec(key=...), r"\.key"), (spec(key=""), r"\.key"), (spec(key=7), r"\.key"),
        (spec(key="two words"), r"\.key"), (spec(key="k" * 61), r"\.key"), (spec(key="ключ"), r"\.key"),
        (spec(key="a/b"), r"\.key"), (spec(key="key\n"), r"\.key"), (spec(key="key\x00"), r"\.key"),
        (spec(key="-"), r"\.key"),
        (spec(name="n\x00"), r"\.name"), (spec(name=3), r"\.name"), (spec(name="\ud800"), r"\.name"),
        (spec(unit=...), r"\.unit"), (spec(unit="paragraph"), r"\.unit"), (spec(unit=["claim"]), r"\.unit"),
        (spec(scale=...), r"\.scale"), (spec(scale="cardinal"), r"\.scale"),
        (spec(prompt=...), r"\.prompt"), (spec(prompt=""), r"\.prompt"), (spec(prompt={}), r"\.prompt"),
        (spec(help=1), r"\.help"), (spec(required="yes"), r"\.required"), (spec(required=1), r"\.required"),
        (spec(options=...), r"\.options"), (spec(options=[]), r"\.options"), (spec(options="ab"), r"\.options"),
        (spec(options={"a": 1}), r"\.options"), (spec(options=[{"value": n} for n in range(51)]), r"\.options"),
        (options({"value": "a"}), r"\.options"), (spec(scale="binary"), r"\.options"),
        (options({"value": "a"}, "b"), r"options\[1\]"), (options({"value": "a"}, {"label": "b"}), r"options\[1\]"),
        (one_option(value=None), r"options\[1\]\.value"), (one_option(value=""), r"options\[1\]\.value"),
        (one_option(value=[]), r"options\[1\]\.value"), (one_option(value=float("nan")), r"options\[1\]\.value"),
        (one_option(value=float("inf")), r"options\[1\]\.value"), (one_option(value=10**400), r"options\[1\]\.value"),
        (one_option(value="b\x00"), r"options\[1\]\.value"), (one_option(value="\udfff"), r"options\[1\]\.value"),
        (one_option(value="b" * 201), r"options\[1\]\.value"),
        (one_option(colour="red"), r"options\[1\].*colour"), (one_option(label=5), r"options\[1\]\.label"),
        (one_option(help="\x00"), r"options\[1\]\.help"),
        (one_option(hotkey="ab"), r"options\[1\]\.hotkey"), (one_option(hotkey=" "), r"options\[1\]\.hotkey"),
        (one_option(hotkey=1), r"options\[1\]\.hotkey"), (one_option(hotkey=0), r"options\[1\]\.hotkey"),
        (one_option(hotkey="\t"), r"options\[1\]\.hotkey"), (one_option(hotkey="İ"), r"options\[1\]\.hotkey"),
        *((one_option(hotkey=key), r"options\[1\]\.hotkey.*workspace") for key in [*sorted(RESERVED_HOTKEYS), "N",
        "S"]),
        (options({"value": "a", "hotkey": "w"}, {"value": "b", "hotkey": "W"}), "hotkey “w” is given twice"),
        (options({"value": "a"}, {"value": "a"}), "value “a” is given twice"),
        (options({"value": 1}, {"value": 1.0}), "given twice"), (options({"value": 1}, {"value": "1"}), "given twice"),
        (options({"value": "1.0"}, {"value": "1"}), "given twice"),
        (options({"value": True}, {"value": "true"}), "together"),
        (options({"value": True}, {"value": 1}), "together"),
        (spec(scale="interval"), r"options\[0\]\.value"),
        (spec(**{"pass": "yes"}), r"\.pass"), (spec(**{"pass": ["maybe"]}), r"\.pass.*maybe"),
        (spec(**{"pass": [None]}), r"\.pass"),
        (spec(**{"pass": [["yes"]]}), r"\.pass"), (spec(**{"pass": [{}]}), r"\.pass"),
        (spec(scale="interval", options=[], **{"pass": ["\x00"]}), r"\.pass"),
        ({**GRADE, "pass": [True]}, r"\.pass"), ({**GRADE, "pass": [10**400]}, r"\.pass"),
    ],
)  # fmt: skip
def test_a_bad_specification_is_refused_and_the_place_named(bad: Any, place: str) -> None:
    with pytest.raises(Invalid, match=place) as refused:
        check_spec(bad, where="criteria[3]")
    assert refused.value.message.startswith("criteria[3]")
    assert len(refused.value.message) < 400


def test_what_passes_is_kept_as_the_option_spells_it() -> None:
    assert check_spec({**GRADE, "pass": ["4", 5.0]})["pass"] == [4, 5]


def test_a_bad_one_among_good_ones_adds_none(world: World) -> None:
    before = list(world.project.criteria.values())
    with pytest.raises(Invalid, match=r"criteria\[1\]"):
        add_criteria(project=world.project, specs=["relevancy", "nonsense"])
    with pytest.raises(Invalid, match="more than once"):
        add_criteria(project=world.project, specs=["relevancy", "relevancy"])
    assert list(world.project.criteria.values()) == before


# Versions


def labelled(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann], overlap=1)
    say(world.ann, batch.tasks.get(), "claim:0", "support", "yes")


def in_a_batch(world: World) -> None:
    make_samples(world.project, 1)
    world.batch(annotators=[world.ann], overlap=1, opened=False)


@pytest.mark.parametrize("use", [labelled, in_a_batch])
def test_changing_one_in_use_makes_a_new_version(world: World, use: Callable[[World], None]) -> None:
    use(world)
    old = world.criteria("support")[0]
    [new] = add_criteria(project=world.project, specs=[{**TRISTATE, "prompt": "Anew?"}])
    old.refresh_from_db()
    assert (old.version, old.is_current, old.prompt) == (1, False, "Supported?")
    assert (new.version, new.is_current, new.prompt, new.position) == (2, True, "Anew?", old.position)


def test_changing_an_unused_one_changes_it_in_place(world: World) -> None:
    old = world.criteria("support")[0]
    [new] = add_criteria(project=world.project, specs=[{**TRISTATE, "prompt": "Anew?"}])
    assert (new.pk, new.version, new.prompt) == (old.pk, 1, "Anew?")


def test_the_same_content_changes_nothing_even_in_use(world: World) -> None:
    labelled(world)
    before = list(world.project.criteria.values())
    add_criteria(project=world.project, specs=[TRISTATE, GRADE])
    assert list(world.project.criteria.values()) == before


def test_a_key_stays_with_its_kind_of_unit(world: World) -> None:
    with pytest.raises(Conflict, match="applies to a claim"):
        add_criteria(project=world.project, specs=[{**TRISTATE, "unit": "answer"}])


def test_a_running_batch_goes_on_asking_its_own_version(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann], overlap=1)
    add_criteria(
        project=world.project, specs=[{**TRISTATE, "options": [{"value": "ja"}, {"value": "nein"}], "pass": []}]
    )
    assert say(world.ann, batch.tasks.get(), "claim:0", "support", "yes")["value"] == "yes"
    with pytest.raises(Invalid, match="not an option"):
        say(world.ann, batch.tasks.get(), "claim:1", "support", "ja")
