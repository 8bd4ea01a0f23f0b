"""What an LLM judge's configuration may hold, what is filled in, and what is told about the rest."""

from __future__ import annotations

from typing import Any

import pytest

from judges.kinds.base import Item, Refused
from judges.kinds.llm import KIND, builtin_templates
from judges.kinds.llm.judging import Judging
from judges.kinds.llm.prompt import names_between, parts_of
from judges.models import JudgeKind
from judges.versions.identity import content_hash
from tests.judges.kinds.llm.making import SUPPORT, Scripted, complete, numbers, options, prompt_of, said, told, values

GRADE = {"key": "grade", "unit": "answer", "options": [{"value": n} for n in range(1, 6)], "prompt": "How good?"}
OPEN = {"key": "length", "unit": "answer", "options": [], "prompt": "How long?"}
OF_SUPPORT = {"criterion": "support", "model": "m", "prompt": "Is it?\n{{claim}}"}
OF_ANSWER = {"dimension": "tone", "unit": "answer", "model": "m", "prompt": "{{answer}}"}


def test_everything_is_filled_in() -> None:
    whole = complete(OF_SUPPORT, **SUPPORT)
    assert whole == {
        "criterion": "support",
        "dimension": "support",
        "unit": "claim",
        "per": "unit",
        "model": "m",
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": None,
        "prompt": "Is it?\n{{claim}}",
        "criterion_text": None,
        "answer_with": "options",
        "options": [{"value": "yes", "label": "", "help": ""}, {"value": "no", "label": "", "help": ""}],
        "min": None,
        "max": None,
        "whole": None,
        "requirements": None,
        "rationale": True,
        "structured": True,
        "examples": {"count": 0, "seed": 1, "drawn": [], "drawn_with": {"count": 0, "seed": 1}},
    }
    assert KIND.dimensions(whole) == [("claim", "support")]
    assert KIND.key == JudgeKind.LLM
    assert KIND.asks_model(whole)


@pytest.mark.parametrize(
    ("config", "criterion"),
    [
        (OF_SUPPORT, SUPPORT),
        ({**OF_SUPPORT, "answer_with": "number", "temperature": None, "seed": 0}, SUPPORT),
        ({**OF_SUPPORT, "prompt": "{{criterion}}{{claims}}{{options}}", "per": "sample", "rationale": False}, SUPPORT),
        ({"criterion": "length", "model": "m", "prompt": "{{answer}}", "min": 0, "max": 9, "whole": True}, OPEN),
        ({"criterion": "grade", "model": "m", "template": "correctness"}, GRADE),
        ({**OF_ANSWER, "options": [{"value": True}, {"value": False}]}, {}),
        ({**OF_ANSWER, "min": -1, "max": 0.5}, {}),
        ({**OF_ANSWER, "template": "rubric", "prompt": None, "requirements": [{"text": "polite", "weight": 2}]}, {}),
    ],
)
def test_what_is_complete_stays_as_it_is(config: dict[str, Any], criterion: dict[str, Any]) -> None:
    whole = complete(config, **criterion)
    assert complete(whole, **criterion) == whole
    assert repr(complete(whole, **criterion)) == repr(whole)


@pytest.mark.parametrize("template", builtin_templates(), ids=lambda template: template.key)
def test_every_template_makes_a_judge(template: Any) -> None:
    given: dict[str, Any] = {"dimension": "mine", "unit": template.units[0], "model": "m", "template": template.key}
    if template.needs_requirements:
        with pytest.raises(Refused, match="needs a list of requirements"):
            complete(given)
        given["requirements"] = [{"text": "It names the hours."}]
    whole = complete(given)
    assert (whole["prompt"], "template" in whole) == (template.prompt, False)
    assert template.variables == names_between(template.prompt)
    assert template.name
    assert template.description
    criterion = {"key": "own", "unit": template.units[0], "options": [{"value": 0}, {"value": 1}], "prompt": "?"}
    assert complete({**given, "dimension": None, "unit": None, "criterion": "own"}, **criterion)["criterion"] == "own"
    # It shows whatever it names, once, and says its task again behind it.
    one = told(reference="From nine.", question="When?")
    model = Scripted("{}")
    said(whole, model, one)
    sent = prompt_of(model)
    assert template.prompt.splitlines()[0] in sent
    assert sent.count(template.prompt.splitlines()[0]) == 2
    assert "{{" not in sent


def test_templates_answer_as_their_scale_says_or_as_the_criterion_does() -> None:
    usual = {"dimension": "mine", "unit": "context", "model": "m", "template": "context_relevance"}
    scale = ("answer_with", "min", "max", "whole")
    assert [complete(usual)[name] for name in scale] == ["number", 0.0, 3.0, True]
    assert [complete({**usual, "max": 5})[name] for name in scale] == ["number", 0.0, 5.0, True]
    criterion = {"key": "relevance", "unit": "context", "options": [{"value": n} for n in range(3)], "prompt": "?"}
    of = {"criterion": "relevance", "model": "m", "template": "context_relevance"}
    assert complete(of, **criterion)["answer_with"] == "options"
    of["answer_with"] = "number"
    assert [complete(of, **criterion)[name] for name in scale] == ["number", 0.0, 2.0, True]


def test_rules_stand_in_the_prompt_and_again_behind_the_material() -> None:
    prompt = "Is it?\n{{rules}}\n{{claim}}"
    whole = complete(
        {**OF_SUPPORT, "prompt": prompt, "rules": ["Dates count.", " A {{claim}}\n is one sentence. "]}, **SUPPORT
    )
    assert whole["rules"] == ["Dates count.", "A {{claim}} is one sentence."]
    assert complete(whole, **SUPPORT) == whole
    model = Scripted("{}")
    said(whole, model, told("It opens at nine."))
    sent = prompt_of(model)
    assert sent.count("1. Dates count.\n2. A {{claim}} is one sentence.") == 2
    assert sent.count("It opens at nine.") == 1


def test_a_judge_without_rules_is_what_it_was() -> None:
    assert complete({**OF_SUPPORT, "rules": []}, **SUPPORT) == complete(OF_SUPPORT, **SUPPORT)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("", None),
        ("prompt", {"rules": ["Dates count."]}),
        ("prompt", {"prompt": "{{claim}}{{rules}}"}),
        ("rules", {"rules": "Dates count."}),
        ("rules", {"rules": ["x" * n for n in range(1, 32)]}),
        ("rules.1", {"rules": ["Dates count.", " "]}),
        ("rules.0", {"rules": [7]}),
        ("rules.0", {"rules": ["x" * 1001]}),
        ("rules.0", {"rules": ["x\ud800"]}),
        ("rules.1", {"rules": ["Dates count.", "Dates  count."]}),
        ("", ["a"]),
        ("criterion", {"criterion": "tone"}),
        ("dimension", {"criterion": None}),
        ("dimension", {"criterion": None, "dimension": "support", "unit": "claim"}),
        ("unit", {"criterion": None, "dimension": "tone", "unit": "page"}),
        ("unit", {"unit": "answer"}),
        ("model", {"model": None}),
        ("model", {"model": " "}),
        ("model", {"model": "m\ud800"}),
        ("temperature", {"temperature": "0"}),
        ("temperature", {"temperature": 2.5}),
        ("temperature", {"temperature": True}),
        ("max_tokens", {"max_tokens": 0}),
        ("max_tokens", {"max_tokens": 1e3}),
        ("seed", {"seed": -1}),
        ("seed", {"seed": "x"}),
        ("prompt", {"prompt": None}),
        ("prompt", {"prompt": "Is it so?"}),
        ("prompt", {"prompt": "{{answer}}"}),
        ("prompt", {"prompt": "{{claims}}"}),
        ("prompt", {"prompt": "{{claim}}" + "x" * 50_000}),
        ("prompt", {"per": "sample"}),
        ("template", {"template": "claim_support"}),
        ("template", {"prompt": None, "template": "nothing"}),
        ("template", {"prompt": None, "template": "correctness"}),
        ("per", {"per": "batch"}),
        ("per", {"per": "sample", "prompt": "{{claims}}{{requirements}}", "requirements": [{"text": "a"}]}),
        ("answer_with", {"answer_with": "words"}),
        ("min", {"min": 0}),
        ("max", {"answer_with": "number", "min": 1, "max": 1}),
        ("max", {"answer_with": "number", "max": 1e200}),
        ("whole", {"answer_with": "number", "max": 0.5, "whole": True}),
        ("requirements", {"requirements": []}),
        ("requirements.0.text", {"requirements": [{"text": ""}]}),
        ("requirements.0.weight", {"requirements": [{"text": "a", "weight": 0}]}),
        ("requirements.0.wait", {"requirements": [{"text": "a", "wait": 1}]}),
        ("prompt", {"requirements": [{"text": "a"}]}),
        ("options", {"requirements": [{"text": "a"}], "options": [{"value": "a"}, {"value": "b"}]}),
        ("rationale", {"rationale": "yes"}),
        ("structured", {"structured": 1}),
        ("confidence", {"confidence": "high"}),
        ("examples", {"examples": 3}),
        ("examples.count", {"examples": {"count": 21}}),
        ("examples.seed", {"examples": {"seed": 0.5}}),
        ("examples.many", {"examples": {"many": 1}}),
        ("top_k", {"top_k": 1}),
    ],
)
def test_what_is_wrong_is_named(field: str, given: Any) -> None:
    with pytest.raises(Refused) as refused:
        complete({**OF_SUPPORT, **given} if isinstance(given, dict) else given, **SUPPORT)
    assert refused.value.field == field
    assert refused.value.message.endswith(".")


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("options", {"options": [{"value": "a"}]}),
        ("options", {"options": [{"value": "a", "score": 0}, {"value": "A", "score": 1}]}),
        ("options.0.score", {"options": [{"value": "a"}, {"value": "b", "score": 1}]}),
        ("options.1.score", {"options": [{"value": "a", "score": 1}, {"value": "b", "score": "0"}]}),
        ("options.1.score", {"options": [{"value": 1}, {"value": 2, "score": 1e200}]}),
        ("options", {"options": [{"value": 1}, {"value": "1", "score": 1}]}),
        ("options", {"options": [{"value": 1}, {"value": 1.0}]}),
        ("options.1.value", {"options": [{"value": 1}, {"value": None}]}),
        ("options.1.value", {"options": [{"value": 1}, {"label": "b"}]}),
        ("options.1.hotkey", {"options": [{"value": 1}, {"value": 2, "hotkey": "b"}]}),
        ("options", {"answer_with": "number", "options": [{"value": "a"}, {"value": "b"}]}),
        ("options", {"answer_with": "options"}),
        ("min", {}),
        ("max", {"min": 1}),
        ("examples.count", {"min": 0, "max": 1, "examples": {"count": 1}}),
    ],
)
def test_a_scale_of_its_own(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        complete({**OF_ANSWER, **given})
    assert refused.value.field == field


def test_options_of_its_own_count_as_numbers() -> None:
    given = [{"value": "good", "score": 2}, {"value": "bad", "score": -0.5}, {"value": 1}, {"value": True, "score": 7}]
    config = complete({**OF_ANSWER, "options": given})
    assert [option["score"] for option in config["options"]] == [2.0, -0.5, 1.0, 7.0]
    for value, score, reason in (
        ('"good"', 2.0, "good: r"),
        ('"bad"', -0.5, "bad: r"),
        ("1", 1.0, "r"),
        ("true", 7.0, "r"),
    ):
        (found,) = said(config, Scripted(f'{{"reason": "r", "value": {value}}}'), told())
        assert (found.number, found.label, found.rationale) == (score, None, reason)
    (found,) = said(config, Scripted('{"reason": "r", "value": 2}'), told())
    assert found.status == "parse_error"


def test_a_criterions_options_are_those_of_now() -> None:
    before = complete(OF_SUPPORT, **SUPPORT)
    after = complete(before, **{**SUPPORT, "options": [{"value": "yes", "help": "so"}, {"value": "no"}]})
    assert [option["help"] for option in after["options"]] == ["so", ""]
    text = complete({**OF_SUPPORT, "prompt": "{{criterion}} {{claim}}"}, **{**SUPPORT, "help": "Look well."})
    assert text["criterion_text"] == "Supported?\nLook well."
    with pytest.raises(Refused, match=r"has no options\. Use a number"):
        complete({"criterion": "length", "model": "m", "prompt": "{{answer}}", "answer_with": "options"}, **OPEN)


HOSTILE = (
    "{{''.__class__}}", "{{claim.__class__}}", "{{ claim|safe }}", "{{claim()}}", "{{claim[0]}}", "{{self}}", "{{}}",
    "{{claim }text}}", "{{%if}}", "{{{claim}}}", "{{Claim}}", "{{\u0441laim}}", "{{config}}", "{{settings.SECRET_KEY}}",
    "{{criterion.project}}", "{{key_fact}}", "{{context}}", "{{answer_b}}", "{{requirements}}", "{{claim",
    "{{ {{claim}} }}",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_only_names_to_the_letter_are_variables(text: str) -> None:
    with pytest.raises(Refused) as refused:
        complete({**OF_SUPPORT, "prompt": f"{{{{claim}}}} {text}"}, **SUPPORT)
    assert refused.value.field == "prompt"
    assert "{{claim}}" in refused.value.message
    assert "{{contexts}}" in refused.value.message


def test_single_braces_are_text() -> None:
    literal = "{x.__init__} {0} %(claim)s %s ${claim} <% claim %> {% claim %} {#claim#} }} {claim!r:>10}"
    config = complete({**OF_SUPPORT, "prompt": f"{literal} {{{{ claim }}}}"}, **SUPPORT)
    model = Scripted('{"reason": "", "value": "yes"}')
    assert values(said(config, model, told("It is {{answer}} {{claim}} {0}."))) == ["yes"]
    # Neither does what is filled in get filled in.
    assert f"{literal} <claim-" in prompt_of(model)
    assert "\nIt is {{answer}} {{claim}} {0}.\n" in prompt_of(model)
    assert [part.text for part in parts_of("a{{ b }}c", ["b"])] == ["a", "b", "c"]


def test_everything_that_matters_makes_another_version() -> None:
    base = {**OF_SUPPORT, "prompt": "{{criterion}}{{claim}}"}
    changes: list[dict[str, Any]] = [
        {}, {"model": "n"}, {"temperature": 0.1}, {"temperature": None}, {"max_tokens": 1025}, {"seed": 1},
        {"prompt": "{{criterion}}{{claim}} "}, {"prompt": "{{criterion}}{{claim}}{{contexts}}"}, {"rationale": False},
        {"structured": False}, {"answer_with": "number"}, {"answer_with": "number", "max": 2},
        {"examples": {"seed": 2}},
        {"prompt": "{{criterion}}{{claims}}", "per": "sample"},
        {"prompt": "{{criterion}}{{claim}}{{requirements}}", "requirements": [{"text": "a"}]},
        {"prompt": "{{criterion}}{{claim}}{{requirements}}", "requirements": [{"text": "a", "weight": 2}]},
    ]  # fmt: skip
    found = [complete({**base, **change}, **SUPPORT) for change in changes]
    found.append(complete(base, **{**SUPPORT, "prompt": "Really?"}))
    found.append(complete(base, **{**SUPPORT, "options": [{"value": "yes"}, {"value": "no"}, {"value": "perhaps"}]}))
    hashes = {content_hash(KIND, config, "main") for config in found}
    assert len(hashes) == len(found)
    # Said otherwise, it is the same.
    same = {
        **base,
        "temperature": 0,
        "per": "unit",
        "rationale": True,
        "examples": {"count": 0},
        "criterion": "support",
    }
    assert content_hash(KIND, complete(same, **SUPPORT), "main") in hashes


def test_the_form_of_a_reply_is_told_and_held_to() -> None:
    model = Scripted('{"reason": "", "value": 2}')
    said(options(1, 2, 3), model, told())
    assert model.asked[0].schema == {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "value": {"type": "integer", "enum": [1, 2, 3]}},
        "required": ["reason", "value"],
        "additionalProperties": False,
    }
    assert prompt_of(model).endswith(
        'Reply with exactly one JSON object and nothing else: {"reason": …, "value": …}\n'
        "- reason: why, in one to three sentences. Quote the words that decide it.\n"
        "- value: one of 1, 2, 3."
    )
    said(numbers(0, 0.5, structured=False, rationale=False, temperature=None, seed=3, max_tokens=9), model, told())
    request = model.asked[1]
    assert (request.schema, request.temperature, request.seed, request.max_tokens) == (None, None, 3, 9)
    assert prompt_of(model).endswith('{"value": …}\n- value: a number from 0 to 0.5.')


def test_a_repeat_is_a_draw_of_its_own() -> None:
    model = Scripted('{"reason": "so", "value": 1}')
    for config in (options(1, 2, 3, seed=3), options(1, 2, 3)):
        for repeat in range(3):
            said(config, model, told(), repeat=repeat)
    assert [(request.seed, request.draw) for request in model.asked] == [
        *[(3, 0), (4, 1), (5, 2)],
        *[(None, 0), (None, 1), (None, 2)],
    ]


def test_units_that_cannot_be_asked_about() -> None:
    whole = complete({"dimension": "mine", "unit": "answer", "model": "m", "template": "correctness"})
    assert KIND.units(whole, told(reference="From nine.")) == ["answer"]
    for reference in (None, ""):
        assert KIND.units(whole, told(reference=reference)) == []
    claims = complete({"dimension": "mine", "unit": "claim", "model": "m", "template": "claim_support"})
    one = told("a", "b", "c")
    one.claims[1]["dropped"] = True
    assert KIND.units(claims, one) == ["claim:0", "claim:2"]
    one.contexts = []
    assert KIND.units(claims, one) == []
    together = complete({"dimension": "mine", "unit": "claim", "model": "m", "template": "all_claims"})
    assert KIND.units(together, told("a", "b")) == ["answer"]
    assert KIND.units(together, _without_claims()) == []


def _without_claims() -> Any:
    one = told("a")
    one.claims = []
    return one


def test_what_is_gone_since_the_run_was_laid_out_is_not_asked_about() -> None:
    whole = complete({"dimension": "mine", "unit": "claim", "model": "m", "template": "claim_support"})
    one, model = told("a", "b"), Scripted("{}")
    units = KIND.units(whole, one)
    one.claims[0]["dropped"] = True
    judging = Judging(whole)
    (gone,) = judging.ask(Item(one, units[0]), model).scores
    one.contexts = []
    (bare,) = judging.ask(Item(one, units[1]), model).scores
    assert {gone.status, bare.status} == {"error"}
    assert gone.detail == bare.detail == "What the prompt asks about is no longer there."
    assert model.asked == []


def test_a_repeat_is_the_same_question_drawn_again() -> None:
    model = Scripted('{"reason": "", "value": "good"}')
    config = options("good", "bad")
    for repeat in (0, 1):
        said(config, model, told(), repeat=repeat)
    first, second = model.asked
    assert (first.draw, second.draw) == (0, 1)
    assert first.messages == second.messages


def test_a_rubric_is_the_weighted_share_of_what_is_met() -> None:
    requirements = [{"text": "polite", "weight": 3}, {"text": "short"}, {"text": "in English", "weight": 0.5}]
    whole = complete(
        {"dimension": "rubric", "unit": "answer", "model": "m", "template": "rubric", "requirements": requirements}
    )
    model = Scripted(
        '{"1": {"reason": "yes", "met": true}, "3": {"reason": "", "met": true}, "2": {"reason": "no", "met": false}}'
    )
    (score,) = said(whole, model, told())
    assert score.number == pytest.approx(3.5 / 4.5)
    assert score.rationale == "1. ✓ yes\n2. ✗ no\n3. ✓"
    assert "1. polite\n2. short\n3. in English" in prompt_of(model)


def test_sizes_follow_the_texts() -> None:
    whole = complete({"dimension": "mine", "unit": "claim", "model": "m", "template": "claim_support"})
    short = KIND.size(whole, told("a"))
    latin, chinese = KIND.size(whole, told("a" * 4000)), KIND.size(whole, told("字" * 4000))
    assert (short.requests, short.tokens_out) == (1, 75)
    assert short.tokens_in + 900 < latin.tokens_in < short.tokens_in + 1100
    assert short.tokens_in + 3900 < chinese.tokens_in < short.tokens_in + 4100
    together = complete({"dimension": "mine", "unit": "claim", "model": "m", "template": "all_claims"})
    assert KIND.size(together, told("a", "b", "c")).tokens_out == 225
    assert KIND.size(whole, _without_claims()).requests == 0
