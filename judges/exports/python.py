"""An LLM judge as one Python file that needs nothing of ours: code/ has its parts, and what the judge is goes in front
of them as literals, never as code.

Prompts and replies are spelled a second time there: our own reading stands on the importers' strict JSON, statuses and
settings, which would all have to be split for a file that has the standard library alone. tests/judges/exports holds
the two together: what is sent, and what is read of every malformed reply.
"""

from __future__ import annotations

from pathlib import Path
from pprint import pformat
from typing import Any

from django.utils.translation import gettext as _

from annotate.core.errors import Conflict, Invalid
from annotate.core.scales import Value, normalise
from annotate.models import Criterion
from judges.endpoints.calls import ChatRequest
from judges.endpoints.client import chat_body
from judges.kinds.base import Config
from judges.kinds.llm.answers import NUMBER, OPTIONS, REQUIREMENTS, Answers
from judges.kinds.llm.judging import END, SYSTEM, Judging
from judges.kinds.llm.prompt import LISTS, MEMBER, PER_SAMPLE, Prompt
from judges.models import JudgeKind, JudgeVersion

# What each file is for, and what has to be installed for it.
LIBRARIES = {"ragas": ("RAGAS", "ragas"), "deepeval": ("DeepEval", "deepeval"), "mlflow": ("MLflow", "mlflow")}

_CODE = Path(__file__).parent / "code"
# RAGAS has names of its own for these.
_IN_RAGAS = {"question": "user_input", "answer": "response", "contexts": "retrieved_contexts"}
_NEVER_EMPTY = ("question", "answer", "answer_b", "reference", *LISTS.values())


def as_python(version: JudgeVersion, library: str) -> str:
    """Raises Conflict for a version that is no LLM judge, one that scores all units of a sample at once, and one whose
    criterion has other options by now."""
    if version.judge.kind != JudgeKind.LLM:
        raise Conflict("not_as_code", _("Only LLM judges can be exported as code. Download the JSON file instead."))
    config = version.config
    if config["per"] == PER_SAMPLE:
        raise Conflict(
            "not_as_code",
            _(
                "This version scores all units of a sample in one request, but a metric there has one value per row. "
                "Create a version that scores each unit separately, or download the JSON file."
            ),
        )
    parts = ["judge", config["answer_with"], "nearest" if config["examples"].get("nearest") else "fixed"]
    imports, bodies = ["from __future__ import annotations\n"], []
    adapter = _adapter(library, config)
    texts = [*((_CODE / f"{name}.py.txt").read_text() for name in parts), *adapter]
    lines: set[str] = set()
    for text in texts:
        head, _gap, body = text.partition("\n\n\n")
        lines.update(line for line in head.splitlines() if line)
        bodies.append(body.strip("\n"))
    imports.append("\n".join(sorted(lines, key=lambda line: (line.startswith("from"), line))))
    given = "\n".join(f"{name} = {_literal(value)}" for name, value in _constants(version).items())
    return "\n".join(imports) + "\n\n" + _about(version, library) + given + "\n\n\n" + "\n\n\n".join(bodies) + "\n"


def _about(version: JudgeVersion, library: str) -> str:
    """Nothing in it is anybody's text: a name could end a comment."""
    title, package = LIBRARIES[library]
    needs = f"{package} scikit-learn" if version.config["examples"].get("nearest") else package
    return f"""\
# A judge made by Touchstone, for {title}. It sends the same messages and reads replies as strictly as there: the same
# model at the same endpoint gives the same values, and what is no answer is no score, never a 0.
#
#   pip install {needs}
#   JUDGE_BASE_URL   an OpenAI-compatible endpoint, with the version in its path
#   JUDGE_API_KEY    its key, where it needs one; never part of this file
#   JUDGE_TIMEOUT    seconds for a request; 60 without it

"""


def _adapter(library: str, config: Config) -> list[str]:
    if library == "deepeval":
        kind = "label" if _labels(config) else "number"
        return [(_CODE / f"deepeval_{part}.py.txt").read_text() for part in (kind, "texts")]
    text = (_CODE / f"{library}.py.txt").read_text()
    if library == "ragas":
        names = Prompt(config).shown
        own = {name: _IN_RAGAS.get(name, name) for name in names}
        kinds = {name: "list" if name in MEMBER else "str" for name in names}
        text = text.replace("{decorator}", "discrete_metric" if _labels(config) else "numeric_metric")
        text = text.replace("{signature}", ", ".join(f"{own[name]}: {kinds[name]} | None = None" for name in names))
        text = text.replace("{call}", ", ".join(f"{own[name]}=…" for name in names))
        text = text.replace("{passed}", ", ".join(f"{name}={own[name]}" for name in names))
    return [text]


def _constants(version: JudgeVersion) -> dict[str, Any]:
    config = version.config
    prompt, answers = Prompt(config), Answers(config)
    form, schema = Judging(config).form(1)
    request = ChatRequest(
        model=config["model"],
        messages=[],
        temperature=config["temperature"],
        max_tokens=config["max_tokens"],
        seed=config["seed"],
        schema=schema if config["structured"] else None,
    )
    nearest = config["examples"].get("nearest")
    examples = [
        {"shows": dict(shows), "value": value, **({"likeness": drawn["shows"]} if nearest else {})}
        for (shows, value), drawn in zip(prompt.examples, config["examples"]["drawn"], strict=True)
    ]
    return {
        "NAME": version.judge.name,
        "VERSION": version.label,
        "IDENTITY": version.content_hash,
        "HIGHER_IS_BETTER": version.judge.higher_is_better,
        "DIMENSION": config["dimension"],
        "REQUEST": {name: value for name, value in chat_body(request).items() if name != "messages"},
        "SYSTEM": SYSTEM,
        "PROMPT": [("show" if part.is_variable else "text", part.text) for part in prompt.parts],
        "TASK": prompt.task,
        "END": END,
        "FORM": form,
        "EXAMPLES": examples,
        **({"NEAREST": nearest} if nearest else {}),
        "SHOWS": prompt.shown,
        "LISTS": dict(MEMBER),
        "NEVER_EMPTY": _NEVER_EMPTY,
        "FIELDS": list(answers.fields),
        **_answer(version),
    }


def _answer(version: JudgeVersion) -> dict[str, Any]:
    """How a reply is read. ALLOWED: all labels, or the ends of the scale."""
    config = version.config
    if config["answer_with"] == NUMBER:
        low, high = config["min"], config["max"]
        return {"LOW": low, "HIGH": high, "WHOLE": config["whole"], "ALLOWED": (low, high)}
    if config["answer_with"] == REQUIREMENTS:
        return {"WEIGHTS": [one["weight"] for one in config["requirements"]], "ALLOWED": (0.0, 1.0)}
    _require_same_options(version)
    options = [
        (one["value"], _counts_as(one), "score" in one and isinstance(one["value"], str)) for one in config["options"]
    ]
    values = [value for _written, value, _named in options]
    labels = _labels(config)
    return {"OPTIONS": options, "ALLOWED": values if labels else (min(values), max(values))}


def _counts_as(option: dict[str, Any]) -> float | str:
    """As a score of it is kept here: numbers as numbers, others as labels."""
    if "score" in option:
        return float(option["score"])
    value = option["value"]
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else float(value)


def _labels(config: Config) -> bool:
    return config["answer_with"] == OPTIONS and any(isinstance(_counts_as(one), str) for one in config["options"])


def _require_same_options(version: JudgeVersion) -> None:
    """Scores here are held against the criterion's options of today."""
    config = version.config
    if config["criterion"] is None:
        return
    criterion = Criterion.objects.filter(
        project=version.judge.project_id, key=config["criterion"], is_current=True
    ).first()
    if criterion is None or not all(_is_option(criterion, option["value"]) for option in config["options"]):
        raise Conflict(
            "criterion_changed",
            _("The criterion no longer has all options of this version. Save the judge again to get one that does."),
        )


def _is_option(criterion: Criterion, value: Value) -> bool:
    try:
        normalise(criterion, value)
    except Invalid:
        return False
    return True


def _literal(value: Any) -> str:
    """As Python writes it. Of a text nothing is left that could end a line or a literal."""
    written = pformat(value, width=116, sort_dicts=False)
    return f"({written})" if "\n" in written and isinstance(value, str) and not written.startswith("(") else written
