"""Models that are loaded: tiny ones with random weights, made here. Run by `make test-models`."""

from __future__ import annotations

import copy
import json
import math
import socket
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from annotate.models import Project
from judges.endpoints.calls import StopRun
from judges.kinds.base import Kind
from judges.kinds.embedding import KIND as EMBEDDING
from judges.kinds.nli import KIND as NLI
from judges.models import JudgeVersion, ScoreStatus
from tests.judges.building import make_project
from tests.judges.kinds.making import sample, scored

pytestmark = pytest.mark.django_db
WORDS = ["the", "light", "is", "amber", "hub", "red", "has", "no", "network", "保", "修", "期", "两", "年"]
LONGEST = 64


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    top = tmp_path_factory.mktemp("models")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    inner = Tokenizer(models.WordLevel({word: at for at, word in enumerate(special + WORDS)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        model_max_length=LONGEST,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
    config = transformers.BertConfig(
        vocab_size=len(special + WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=LONGEST,
        initializer_range=1.0,
        id2label={0: "contradiction", 1: "neutral", 2: "entailment"},
        label2id={"contradiction": 0, "neutral": 1, "entailment": 2},
    )
    torch.manual_seed(3)
    for name, head in (("nli", transformers.BertForSequenceClassification), ("near", transformers.BertModel)):
        head(config).save_pretrained(top / name)
        tokenizer.save_pretrained(top / name)
    return top


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> Project:
    return make_project(criteria=("support", "relevance"))


@pytest.fixture
def project(_world: Project, models: Path, settings: Any) -> Project:
    settings.JUDGE_MODELS_DIR = models
    return copy.deepcopy(_world)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that opens a connection to anything but the database's socket fails."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX, f"a connection to {address}"
        real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


def _model(models: Path, name: str) -> Any:
    head = transformers.AutoModelForSequenceClassification if name == "nli" else transformers.AutoModel
    return head.from_pretrained(models / name).eval(), transformers.AutoTokenizer.from_pretrained(models / name)


def _nli(project: Project, **config: Any) -> dict[str, Any]:
    return NLI.complete({"criterion": "support", "folder": "nli", **config}, project)


def _near(project: Project, criterion: str = "support", **config: Any) -> dict[str, Any]:
    return EMBEDDING.complete({"criterion": criterion, "folder": "near", **config}, project)


def _entails(models: Path, premise: str, hypothesis: str) -> float:
    model, tokenizer = _model(models, "nli")
    with torch.no_grad():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits
    return float(torch.softmax(logits.double(), dim=-1)[0, 2])


def test_entailment_is_the_greatest_over_the_contexts(project: Project, models: Path) -> None:
    contexts = ["the hub has no network", "the light is amber", "保修期两年"]
    one = sample(claims=["the light is red", "保修期"], contexts=contexts)
    found = scored(NLI, _nli(project), one)
    for index, claim in enumerate(("the light is red", "保修期")):
        each = [_entails(models, context, claim) for context in contexts]
        score = found[f"claim:{index}"]
        assert score.number == pytest.approx(max(each), abs=1e-6)
        assert score.rationale == f"Entailed most by context {each.index(max(each)) + 1}."


def test_another_class_of_the_model(project: Project, models: Path) -> None:
    one = sample(claims=["the light is red"], contexts=["the hub"])
    each = [scored(NLI, _nli(project, entailment=name), one)["claim:0"].number for name in ("contradiction", "neutral")]
    assert sum(each) + _entails(models, "the hub", "the light is red") == pytest.approx(1, abs=1e-6)


def test_a_long_context_is_read_in_windows(project: Project, models: Path) -> None:
    """What stands at the very end counts as much as if it stood alone."""
    premise = "no network " * 200 + "the hub is amber"
    found = scored(NLI, _nli(project), sample(claims=["the light is red"], contexts=[premise]))["claim:0"]
    model, tokenizer = _model(models, "nli")
    words, claim = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (premise, "the light is red"))
    size = LONGEST - 3 - len(claim)
    step = size - size // 2
    each = []
    for start in range(0, len(words) - size + step, step):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[2, *words[start : start + size], 3, *claim, 3]])).logits
        each.append(float(torch.softmax(logits.double(), dim=-1)[0, 2]))
    assert len(each) > 10
    assert found.number == pytest.approx(max(each), abs=1e-6)
    assert found.rationale == "Entailed most by context 1. It was read in windows."


def test_a_claim_that_is_too_long_is_truncated_and_no_score(project: Project) -> None:
    one = sample(claims=["the light " * 40], contexts=["the hub"])
    found = scored(NLI, _nli(project), one)["claim:0"]
    assert (found.status, found.number) == (ScoreStatus.TRUNCATED, None)
    assert found.detail == "It is longer than the model reads: 61 tokens."


@pytest.mark.parametrize("kind", [NLI, EMBEDDING], ids=["nli", "embedding"])
def test_blank_texts_fail_and_missing_ones_are_not_asked_about(project: Project, kind: Kind) -> None:
    config = kind.complete({"criterion": "support", "folder": "nli" if kind is NLI else "near"}, project)
    assert kind.units(config, sample(claims=["amber"])) == []
    assert kind.size(config, sample()).requests == 0
    assert not kind.asks_model(config)
    found = scored(kind, config, sample(answer="-", claims=[" "], contexts=["the hub"]))
    assert found["claim:0"].detail == "There is no word in what is to be scored."
    found = scored(kind, config, sample(claims=["amber"], contexts=["\n"]))
    assert found["claim:0"].detail == "There is no word in the contexts."


def test_the_cosine_of_mean_vectors(project: Project, models: Path) -> None:
    contexts = ["the hub has no network", "amber"]
    one = sample(claims=["the light is amber"], contexts=contexts)
    model, tokenizer = _model(models, "near")

    def vector(text: str) -> Any:
        with torch.no_grad():
            return model(**tokenizer(text, return_tensors="pt")).last_hidden_state.double()[0]

    claim, *others = [vector(text) for text in ("the light is amber", *contexts)]
    for pooling, pooled in (("mean", lambda states: states.mean(0)), ("first", lambda states: states[0])):
        each = [float(torch.cosine_similarity(pooled(claim), pooled(other), dim=0)) for other in others]
        for contexts_option, number in (("best", max(each)), ("mean", sum(each) / 2)):
            config = _near(project, pooling=pooling, contexts=contexts_option)
            assert scored(EMBEDDING, config, one)["claim:0"].number == pytest.approx(number, abs=1e-5)


def test_texts_have_the_same_vectors_whatever_comes_with_them(project: Project) -> None:
    samples = [
        sample(number, claims=["the light is red"], contexts=["the hub", "amber " * number], question="red")
        for number in range(1, 5)
    ]
    alone = [scored(EMBEDDING, _near(project), one)["claim:0"].number for one in samples]
    together = [score.number for score in scored(EMBEDDING, _near(project), *samples).values()]
    assert together == pytest.approx(alone, abs=1e-6)
    assert all(number is not None and math.isfinite(number) for number in alone)


def test_a_text_that_was_cut_is_said_to_be(project: Project) -> None:
    one = sample(contexts=["amber " * 100], question="red")
    found = scored(EMBEDDING, _near(project, "relevance"), one)["context:0"]
    assert found.rationale == "Cosine with the question. Of long texts the model read the first 64 tokens."


def test_code_beside_a_model_is_never_run(project: Project, models: Path, tmp_path: Path) -> None:
    evil, ran = models / "evil", tmp_path / "ran"
    evil.mkdir(exist_ok=True)
    for file in (models / "near").iterdir():
        (evil / file.name).write_bytes(file.read_bytes())
    (evil / "modeling_evil.py").write_text(f"open({str(ran)!r}, 'w')\nclass EvilModel: pass\n")
    config = json.loads((evil / "config.json").read_text())
    config |= {"model_type": "evil", "auto_map": {"AutoModel": "modeling_evil.EvilModel"}}
    (evil / "config.json").write_text(json.dumps(config))
    version = JudgeVersion(config=_near(project, folder="evil"))
    with pytest.raises(StopRun) as stop, EMBEDDING.open(version):
        pass
    assert stop.value.code == "no_model"
    assert not ran.exists()


def test_broken_weights_stop_the_run(project: Project, models: Path) -> None:
    broken = models / "broken"
    broken.mkdir(exist_ok=True)
    for file in (models / "nli").iterdir():
        (broken / file.name).write_bytes(
            file.read_bytes()[:100] if file.suffix == ".safetensors" else file.read_bytes()
        )
    version = JudgeVersion(config=_nli(project, folder="broken"))
    with pytest.raises(StopRun) as stop, NLI.open(version):
        pass
    assert stop.value.code == "no_model"
