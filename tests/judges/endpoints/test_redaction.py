"""However an endpoint writes the key that it was sent, nothing of it is left in what is kept; all else stays."""

import base64
import html
import json
import string
import time
from collections.abc import Callable
from random import Random
from urllib.parse import quote

import pytest

from judges.endpoints.calls import ChatRequest, EmbedRequest
from judges.endpoints.client import open_client
from judges.endpoints.keys import Secret
from judges.endpoints.reading import LONGEST_RAW, read_models
from judges.endpoints.redaction import Redaction
from judges.models.judge import KeySource
from tests.judges.building import unsaved_endpoint
from tests.openai_server import OpenAIServer, Reply, chat, embeddings

KEY = "sk-planted/0123456789+aBcDeF"
ASK = ChatRequest(model="m", messages=[{"role": "user", "content": "Is it so?"}])

Way = Callable[[str, Random], str]


def in_base64(text: str, rng: Random) -> str:
    """Somewhere in a longer text, so that its bytes begin anywhere."""
    whole = ("> "[: rng.randrange(3)] + text + ", "[: rng.randrange(3)]).encode()
    encoded = rng.choice([base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])(whole).decode()
    encoded = encoded.strip().replace("\n", rng.choice(["\n", "\r\n", "\n    ", "\n> "]))
    return encoded if rng.random() < 0.5 else encoded.rstrip("=")


def in_html(text: str, rng: Random) -> str:
    form = rng.choice(["&#{};", "&#x{:x};", "&#X{:X};", "&#{:06};"])
    return "".join(form.format(ord(letter)) for letter in text)


# What keeps every letter, in some way; any of these can be put on top of any other.
NESTED: dict[str, Way] = {
    "JSON, as it has to be": lambda text, rng: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON, each letter": lambda text, rng: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "JSON, some letters": lambda text, rng: "".join(
        f"\\u{ord(letter):04X}" if rng.random() < 0.3 else json.dumps(letter)[1:-1] for letter in text
    ),
    "bytes": lambda text, rng: "".join(f"\\x{ord(letter):02x}" for letter in text),
    "an address": lambda text, rng: quote(text, safe=""),
    "an address, each letter": lambda text, rng: "".join(f"%{ord(letter):02x}" for letter in text),
    "programs": lambda text, rng: "".join(
        rng.choice(["\\U{:08x}", "\\u{{{:x}}}", "\\x{{{:x}}}", "\\{:o}"]).format(ord(letter)) for letter in text
    ),
    "e-mail": lambda text, rng: "".join(f"={ord(letter):02X}" for letter in text),
    "numbers of letters": lambda text, rng: ", ".join(str(ord(letter)) for letter in text),
    "hexadecimal apart": lambda text, rng: text.encode().hex(" "),
    "HTML": in_html,
    "HTML, as it has to be": lambda text, rng: html.escape(text),
    "hexadecimal": lambda text, rng: rng.choice([str.lower, str.upper])(text.encode().hex()),
    "base64": in_base64,
}
# Once, on the key itself.
FIRST: dict[str, Way] = {
    "as it is": lambda text, rng: text,
    "large": lambda text, rng: text.upper(),
    "small": lambda text, rng: text.lower(),
    "backwards": lambda text, rng: text[::-1],
    "letter by letter": lambda text, rng: rng.choice([" ", "-", ", ", "\n"]).join(text),
    "numbers": lambda text, rng: str([ord(letter) for letter in text]),
    "bytes apart": lambda text, rng: " ".join(rng.choice(["{:02X}", "0x{:02x}", "{:x}:"]).format(ord(c)) for c in text),
}


def random_key(rng: Random) -> str:
    letters = string.ascii_letters + string.digits
    signs = rng.choice(["", "-_", "-_/+=.", "\"\\/%&<>'=+"])
    return rng.choice(["", "sk-", "tok_"]) + "".join(rng.choices(letters * 2 + signs * 3, k=rng.choice([20, 40, 64])))


def left_of(hidden: str, text: str) -> str:
    """A piece of what should be gone that is still there: a third of it, or sixteen characters."""
    size = max(16, len(hidden) // 3)
    pieces = (hidden[at : at + size] for at in range(max(1, len(hidden) - size + 1)))
    return next((piece for piece in pieces if piece in text), "")


@pytest.mark.parametrize("seed", range(40))
def test_random_keys_in_random_writing(seed: int, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    key = random_key(rng)
    monkeypatch.setenv("JUDGE_KEY_A", key)
    endpoint = unsaved_endpoint(openai_server, key_source=KeySource.ENVIRONMENT, key_variable="JUDGE_KEY_A")
    with open_client(endpoint) as client:
        for _ in range(12):
            first, nested = rng.choice(list(FIRST)), rng.choices(list(NESTED), k=rng.randrange(4))
            hidden = FIRST[first](key, rng)
            for way in nested:
                hidden = NESTED[way](hidden, rng)
            said = f"The tower is 330 m high. {rng.choice(['', 'key='])}{hidden} So it is supported."
            field = rng.choice(["text", "refusal", "model", "finish_reason", "raw", "models"])
            if field == "models":
                (found,) = read_models(json.dumps({"data": [{"id": said}]}).encode(), Redaction(Secret(key))) or ("",)
            else:
                openai_server.script(reply_with(said, field))
                found = getattr(client.chat(ASK), field)
            how = f"{key!r} {[first, *nested]} in {field}: {found!r}"
            assert "[key]" in found or field == "model", how  # which is cut off after 200 characters
            assert not left_of(hidden, found), how
            if field not in ("raw", "model") and len(said) <= 20_000:
                assert found.startswith("The tower is 330 m high. "), how
                assert found.endswith(" So it is supported."), how


def reply_with(said: str, field: str) -> Reply:
    if field == "text":
        return chat(said)
    if field == "refusal":
        return chat(None, refusal=said)
    if field == "raw":
        return Reply(said.encode())
    return chat("yes", **{field: said})


def redacted(text: str) -> str:
    return Redaction(Secret(KEY))(text)


def test_what_holds_no_key_stays_as_it_is() -> None:
    texts = [
        "The tower is 330 m high; 100 % of it & more, a = b, C:\\users\\new \\u00e9 &amp; %20 =3D.",
        '{"reason": "It says \\"330 m\\".\\nSo yes.", "value": "supported"}',
        "这个说法得到了支持。" * 200,
        base64.b64encode(bytes(range(256)) * 20).decode(),
        "0123456789abcdef" * 100,
        "https://example.org/a/b?c=%7B%22d%22%3A1%7D",
        "sk-planted is how many keys begin, and aBcDeF is how some end",
        "\\" * 100,
        "a = b & c: " + "\\" * 1000 + " and " + "=" * 1000,
        "&#" + "1" * 5000 + ";",
        str([number % 256 for number in range(2000)]),
    ]
    for text in texts:
        assert redacted(text) == text
        assert Redaction(None)(text + KEY) == text + KEY, "where no key was sent there is none to hide"


def test_a_reply_stays_readable_json() -> None:
    """What stood inside a string of a model's JSON goes, and the string stays one."""
    hidden = ("".join(f"\\u{ord(letter):04x}" for letter in KEY), json.dumps(KEY)[1:-1].replace("/", "\\/"))
    for way in (*hidden, json.dumps(hidden[0])[1:-1]):
        said = json.loads(redacted(f'{{"reason": "\\u00e9: {way}.", "value": 3}}'))
        assert said == {"reason": "é: [key].", "value": 3}


def test_as_many_as_there_are() -> None:
    assert redacted(f"{KEY} and {KEY}") == "[key] and [key]"
    assert redacted("\u200b".join(KEY)) == "[key]"
    in_hexadecimal = KEY.encode().hex()
    assert redacted(f"{in_hexadecimal} and {in_hexadecimal.upper()}.") == "[key] and [key]."
    assert redacted(f"{in_hexadecimal} and " * 50) == "[key]", "where there is nothing but keys nothing is kept"


def test_nothing_is_cut_off_before_the_key_is_found(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY_A", KEY)
    endpoint = unsaved_endpoint(openai_server, key_source=KeySource.ENVIRONMENT, key_variable="JUDGE_KEY_A")
    with open_client(endpoint) as client:
        openai_server.script(Reply(b"x " * (LONGEST_RAW // 2 - 5) + KEY.encode()))
        assert KEY[:4] not in str(client.chat(ASK).raw)
        openai_server.script(chat("yes", model="m " * 95 + KEY))
        assert KEY[:4] not in client.chat(ASK).model
        openai_server.script(embeddings([[1.0]], model=KEY))
        assert client.embed(EmbedRequest(model="e", texts=["a"])).model == "[key]"


def test_a_key_in_the_pieces_of_a_stream(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream is not what was asked for, so it is kept as it came."""
    monkeypatch.setenv("JUDGE_KEY_A", KEY)
    endpoint = unsaved_endpoint(openai_server, key_source=KeySource.ENVIRONMENT, key_variable="JUDGE_KEY_A")
    pieces = [KEY[at : at + 5] for at in range(0, len(KEY), 5)]
    events = [f"data: {json.dumps({'id': 'c-1', 'delta': {'content': piece}})}\n\n" for piece in pieces]
    with open_client(endpoint) as client:
        openai_server.script(Reply("".join(events).encode()))
        assert client.chat(ASK).raw == "[key]"
        openai_server.script(Reply("".join(events[:2]).encode()))
        assert "[key]" not in str(client.chat(ASK).raw), "which is part of it only"


@pytest.mark.parametrize("way", ["{}", "{}://?key={}", "%2525{}", "x={}"])
def test_a_key_that_begins_like_an_escape(way: str) -> None:
    """In an address what follows “=” is no letter of an e-mail."""
    for key in ("abcd1234/efgh+5678", "20/0abcdefghij12"):
        hidden = way.replace("{}", quote(key, safe=""))
        redact = Redaction(Secret(key))
        assert not left_of(quote(key, safe=""), redact(hidden))
        assert "[key]" in redact(hidden)


def test_short_keys_within_encodings() -> None:
    key = "k3y9xq7p"
    for said in (key.upper(), key[::-1]):
        assert "[key]" in Redaction(Secret(key))(base64.b64encode(said.encode()).decode())


ALL_ESCAPES = "&" + "amp;" * 6 + " %" + "25" * 6 + "41 "


@pytest.mark.parametrize("size", [2_000, 200_000])
def test_a_text_made_to_be_read_for_ever(size: int) -> None:
    """Escapes within base64 within escapes: each is seven deep, and each time all that is encoded comes anew."""
    text = "A" * size
    for _ in range(4):
        text = ALL_ESCAPES + base64.b64encode((ALL_ESCAPES + text).encode()).decode()
    began = time.process_time()
    assert redacted(text) == "[key]"
    assert Redaction(Secret(KEY)).unread(text) == "[key]"
    many = json.dumps({"data": [{"id": text}] * (1_000_000 // len(text) + 1)}).encode()
    assert set(read_models(many, Redaction(Secret(KEY))) or ()) == {"[key]"}
    assert time.process_time() - began < 30


def test_nothing_of_the_key_in_what_looks_for_it() -> None:
    shown = repr(Redaction(Secret(KEY))) + str(Redaction(Secret(KEY)))
    assert "planted" not in shown
