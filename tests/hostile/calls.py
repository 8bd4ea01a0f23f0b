"""Calls of the API that no well-meant client makes, with a valid token: bodies, types, ids, pages of lists, conditions.

Each has the status that it must get, and a word that its reply must hold: what is wrong, or where.
"""

# The tables stay tables.
# fmt: off
from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import Any

from tests.hostile.outside import P


@dataclass(frozen=True)
class Call:
    name: str
    line: str
    status: int
    says: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    user: str = "alma"

    def __str__(self) -> str:
        return self.name


def call(name: str, line: str, status: int, says: str, body: Any = None, user: str = "alma", **headers: str) -> Call:
    """A body of bytes goes as it is, anything else as JSON. `If_Match="3"` becomes the header."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if body is not None:
        given.setdefault("Content-Type", "application/json")
    return Call(name, line, status, says, body, given, user)


def me(name: str, body: Any, status: int, says: str, **headers: str) -> Call:
    return call(name, "PATCH /api/me/", status, says, body, **headers)


def new(name: str, changes: dict[str, Any], says: str, status: int = 422) -> Call:
    """A project that is as it should be, but for these changes."""
    return call(f"project: {name}", "POST /api/projects/", status, says, {"slug": "new-one", "name": "New", **changes})


def batch(name: str, changes: dict[str, Any], says: str) -> Call:
    good = {"name": "B", "criteria": ["support"], "annotators": ["ana"], "overlap": 1, "selection": {"method": "all"}}
    return call(f"batch: {name}", f"POST {P}/batches/", 422, says, {**good, **changes})


def judge(name: str, config: Any, says: str, **changes: Any) -> Call:
    good = {"name": "j", "kind": "llm", "endpoint": "lab", "config": config}
    return call(f"judge: {name}", f"POST {P}/judges/", 422, says, {**good, **changes})


LLM = {"criterion": "support", "model": "m", "template": "claim_support"}


def label(name: str, changes: dict[str, Any], says: str, status: int = 422, **headers: str) -> Call:
    good = {"unit": "claim:0", "criterion": "support", "value": "supported"}
    given = {"If_Match": "0", "Idempotency_Key": "5a3d5f0e-8f0c-4b8e-9d53-0c9f2c9a6a11", **headers}
    return call(f"label: {name}", "PUT /api/tasks/<task>/labels/", status, says, {**good, **changes}, "ana", **given)


DEEP = b"[" * 8_000 + b"]" * 8_000
BODIES = [
    me("nothing", b"", 422, "preferences"),
    me("blanks", b" \r\n\t", 400, "JSON"),
    me("null", b"null", 422, "object"),
    me("a list", b"[]", 422, "object"),
    me("a text", b'"preferences"', 422, "object"),
    me("a number", b"1", 422, "object"),
    me("two objects", b"{}{}", 400, "JSON"),
    me("a comment", b"{/* x */}", 400, "JSON"),
    me("a comma at the end", b'{"preferences": {},}', 400, "JSON"),
    me("single quotes", b"{'preferences': {}}", 400, "JSON"),
    me("NaN", b'{"preferences": NaN}', 422, "NaN"),
    me("minus infinity", b'{"preferences": -Infinity}', 422, "Infinity"),
    me("1e999", b'{"preferences": 1e999}', 422, "number"),
    me("5,000 digits", b'{"preferences": ' + b"9" * 5_000 + b"}", 422, "number"),
    me("2**64", b'{"preferences": 18446744073709551616}', 422, "number"),
    me("a number with a plus", b'{"preferences": +1}', 400, "JSON"),
    me("a hexadecimal number", b'{"preferences": 0x1}', 400, "JSON"),
    me("a key twice", b'{"preferences": {}, "preferences": {}}', 422, "preferences"),
    me("a key twice, once in escapes", b'{"preferences": {}, "\\u0070references": {}}', 422, "preferences"),
    me("8,000 lists in one another", b'{"preferences": ' + DEEP + b"}", 422, "deep"),
    me("3,000 objects never closed", b'{"a":' * 3_000, 422, "deep"),
    me("30,000 values", b'{"preferences": [' + b"0," * 30_000 + b"0]}", 413, "16"),
    me("a zero byte", b'{"preferences": "\0"}', 400, "JSON"),
    me("a zero in escapes", b'{"preferences": {"shown": "\\u0000"}}', 422, "preferences"),
    me("a line end in a text", b'{"preferences": "a\nb"}', 400, "JSON"),
    me("half a surrogate", b'{"preferences": {"\\ud800": 1}}', 422, "surrogate"),
    me("surrogates in UTF-8", b'{"preferences": "\xed\xa0\x80"}', 400, "of the request"),
    me("Latin-1", '{"préférences": 1}'.encode("latin-1"), 400, "UTF-8"),
    me("UTF-16", '{"preferences": {}}'.encode("utf-16"), 400, "UTF-8"),
    me("UTF-32 as its type says", '{"preferences": {}}'.encode("utf-32"), 400, "UTF-8",
        Content_Type="application/json; charset=utf-32"),
    me("a byte order mark twice", b"\xef\xbb\xbf\xef\xbb\xbf{}", 400, "JSON"),
    me("packed", gzip.compress(b'{"preferences": {}}', mtime=0), 415, "Content-Encoding", Content_Encoding="gzip"),
    me("no type", b"{}", 415, "type", Content_Type=""),
    me("a type of noise", b"{}", 415, "type", Content_Type="application/json/;,;=\"", ),
    me("XML with an entity", b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>', 415, "xml",
        Content_Type="application/xml"),
    me("YAML that would be run", b"!!python/object/apply:os.system [id]", 415, "yaml", Content_Type="application/yaml"),
    me("pickle", b"\x80\x04N.", 415, "pickle", Content_Type="application/x-pickle"),
    me("a prototype", {"__proto__": {"is_staff": True}}, 422, "__proto__"),
    me("somebody else's rights", {"is_staff": True, "is_superuser": True}, 422, "is_staff"),
    me("a key of 10,000 letters", {"k" * 10_000: 1}, 422, "kkk"),
    me("65,000 bytes of blanks", b" " * 65_000 + b"{}", 413, "16,384"),
    me("a list for an object", {"preferences": []}, 422, "preferences"),
]

PROJECTS = [
    new("a short name out of a folder", {"slug": "../x"}, "slug"),
    new("a short name in Turkish", {"slug": "İ"}, "slug"),
    new("a short name in full width", {"slug": "ｄｅｍｏ"}, "slug"),
    new("a short name with a line end", {"slug": "new-one\n"}, "slug"),
    new("a short name that is a number", {"slug": 7}, "slug"),
    new("a short name of 61", {"slug": "a" * 61}, "60"),
    new("a short name that is taken", {"slug": "demo"}, "demo", 409),
    new("a name of zero width", {"name": "\u200b\u200d\ufeff"}, "name"),
    new("a name of blanks", {"name": " \t\u00a0\u3000"}, "name"),
    new("a name with a zero", {"name": "a\0b"}, "name"),
    new("a name with half a surrogate", {"name": "a\ud83d"}, "UTF-8", 400),
    new("a name of 201", {"name": "n" * 201}, "200"),
    new("a name that is a list", {"name": ["New"]}, "name"),
    new("guidelines of 4 million letters", {"guidelines": "g" * 4_000_000}, "3,145,728", 413),
    new("guidelines that are a number", {"guidelines": 1.5}, "guidelines"),
    new("criteria that are a text", {"criteria": "support"}, "criteria"),
    new("a criterion nobody knows", {"criteria": ["constructor"]}, "constructor"),
    new("a criterion twice", {"criteria": ["support", "support"]}, "support"),
    new("a key that nobody asked for", {"owner": "ana"}, "owner"),
    new("a criterion with one option",
        {"criteria": [{"key": "a", "unit": "claim", "scale": "binary", "prompt": "?", "options": [{"value": 1}]}]},
            "options"),
    new("options 1 and '1'", {"criteria": [{"key": "a", "unit": "claim", "scale": "binary", "prompt": "?",
        "options": [{"value": 1}, {"value": "1"}]}]}, "options"),
    new("options true and 1", {"criteria": [{"key": "a", "unit": "claim", "scale": "binary", "prompt": "?",
        "options": [{"value": True}, {"value": 1}]}]}, "options"),
    new("an option that is an object",
        {"criteria": [{"key": "a", "unit": "claim", "scale": "binary", "prompt": "?",
            "options": [{"value": {}}, {"value": 1}]}]}, "value"),
    new("a hotkey of three letters",
        {"criteria": [{"key": "a", "unit": "claim", "scale": "binary", "prompt": "?",
            "options": [{"value": 1, "hotkey": "👩‍💻"}, {"value": 2}]}]}, "hotkey"),
]

IDS = [
    call("a sample beyond 64 bits", f"GET {P}/samples/99999999999999999999/", 404, "not_found"),
    call("a sample of 2**63", f"GET {P}/samples/9223372036854775808/", 404, "not_found"),
    call("a sample of another project", "GET /api/projects/other/samples/<sample>/", 404, "ample"),
    call("a change to a sample of another project", "PUT /api/projects/other/samples/<sample>/abstention/", 404,
        "ample", {"abstained": True}),
    call("claims of a sample of another project", "PATCH /api/projects/other/samples/<sample>/claims/", 404, "ample",
        {"op": "checked"}, If_Match="0"),
    call("a dispute of another project", "PUT /api/projects/other/disputes/<verdict>/", 404, "not_found",
        {"value": "supported", "reason": "x"}, If_Match="1"),
    call("a judge of another project", "PATCH /api/projects/other/judges/<judge>/", 404, "udge",
        {"higher_is_better": False}),
    call("a run of a judge of another project", "POST /api/projects/other/judges/<judge>/runs/", 404, "udge",
        {"scope": {"all": True}}),
    call("a task of another project", "POST /api/projects/other/tasks/<task>/release/", 404, "ask", {}),
    call("another's task", "POST /api/tasks/<task>/submit/", 404, "ask", {}, "alma"),
    call("a batch below nothing", f"GET {P}/batches/-1/", 404, "not_found"),
    call("a batch in full width", f"GET {P}/batches/%EF%BC%91/", 404, "not_found"),
    call("a step that no batch takes", f"POST {P}/batches/1/__class__/", 404, "not_found", {}),
    call("a member out of a folder", f"PUT {P}/members/..%2F..%2Fadmin/", 404, "not_found", {"role": "admin"}),
    call("a criterion out of SQL", f"GET {P}/criteria/support'--/report/", 404, "not_found"),
    call("a release nobody made", f"GET {P}/releases/99/file/", 404, "elease", Range="bytes=0-"),
    call("an image out of a folder", f"GET {P}/guidelines/images/..%2f..%2fsecret_key/", 404, "not_found"),
    call("a set beyond 64 bits", f"GET {P}/question-sets/common/99999999999999999999/", 404, "not_found"),
    call("a project of zero width", "GET /api/projects/demo%E2%80%8B/", 404, "not_found"),
    call("a project in capitals", "GET /api/projects/DEMO/", 404, "roject"),
]

LISTS = [
    *(call(f"a page {query[:24]}", f"GET {P}/samples/?{query}", status, says) for query, status, says in (
        ("limit=-1", 422, "limit"), ("limit=0", 422, "limit"), ("limit=1001", 422, "1000"), ("limit=1e2", 422, "limit"),
        ("limit=NaN", 422, "limit"), ("limit=", 422, "limit"), ("limit=%00", 422, "limit"),
            ("offset=-1", 422, "offset"),
        ("offset=99999999999999999999", 422, "offset"), ("offset=1.5", 422, "offset"),
            ("limit=1&limit=2", 400, "twice"),
        ("page=2", 400, "page"), ("sort=id;DROP%20TABLE", 422, "sort"), ("sort=-password", 422, "sort"),
        ("search=%00", 422, "search"), ("status=__class__", 422, "status"), ("agreement=x", 422, "agreement"),
        ("metadata={", 422, "metadata"),
    )),
    call("an audit cursor of noise", f"GET {P}/audit/?cursor=../../x", 422, "cursor"),
    call("an audit from the year 10000", f"GET {P}/audit/?since=10000-01-01", 422, "since"),
    call("an audit from SQL", f"GET {P}/audit/?since=now()", 422, "since"),
    call("an audit of a sample with a zero", f"GET {P}/audit/?sample=%00", 422, "sample"),
    call("units of a value of 10,000 brackets", f"GET {P}/units/?criterion=support&value=" + "[" * 3_000, 422, "[[["),
    call("disputes by a share of 7/0", f"GET {P}/disputes/?order=random&seed=1&share=7/0", 422, "share"),
    call("disputes with a seed of 400 digits", f"GET {P}/disputes/?order=random&seed=" + "9" * 400, 422, "seed"),
    call("retrieval at k = 10**9", f"GET {P}/retrieval/?set=common@1&version=v3&k=1000000000", 422, "k"),
    call("retrieval at k = 0", f"GET {P}/retrieval/?set=common@1&version=v3&k=0", 422, "k"),
    call("a gate at kappa NaN", f"GET {P}/gate/?criterion=support&judge=claim-checker&min_kappa=NaN", 422, "min_kappa"),
    call("a gate at kappa 1e400", f"GET {P}/gate/?criterion=support&judge=claim-checker&min_kappa=1e400", 422,
        "min_kappa"),
    call("a gate of a judge with a zero", f"GET {P}/gate/?criterion=support&judge=%00", 422, "judge"),
    call("versions from far away", f"GET {P}/judges/<judge>/versions/diff/?older=1&newer=99999999999999999999", 422,
        "newer"),
    call("work without a task of noise", f"GET {P}/work/?exclude=1,x", 422, "exclude"),
    call("a format in the query", f"GET {P}/samples/?format=xml", 400, "format"),
]

LABELS = [
    label("an empty revision", {}, "If-Match", 422, If_Match=""),
    label("any revision", {}, "If-Match", 422, If_Match="*"),
    label("a weak revision", {}, "If-Match", 422, If_Match='W/"0"'),
    label("a revision beyond 64 bits", {}, "If-Match", 422, If_Match="99999999999999999999"),
    label("a stale revision", {}, "current", 412, If_Match="7"),
    label("a key that is no UUID", {}, "Idempotency-Key", 422, Idempotency_Key="1"),
    label("a key of braces", {}, "Idempotency-Key", 422, Idempotency_Key="{{7*7}}"),
    label("a unit beyond the claims", {"unit": "claim:999"}, "claim:999"),
    label("a unit beyond 64 bits", {"unit": "claim:99999999999999999999"}, "unit"),
    label("a unit below nothing", {"unit": "claim:-1"}, "unit"),
    label("a unit in Arabic digits", {"unit": "claim:٠"}, "unit"),
    label("another kind of unit", {"unit": "answer"}, "claim"),
    label("a value of another case", {"value": "Supported"}, "Supported"),
    label("a value that is an object", {"value": {"$ne": None}}, "$ne"),
    label("a value that is a list", {"value": ["supported"]}, "supported"),
    label("a comment with a zero", {"comment": "\0"}, "comment"),
    label("a comment of 10,001", {"comment": "c" * 10_001}, "10000"),
    label("evidence beyond the contexts", {"evidence": [{"context": 999, "start": 0, "end": 1, "quote": "x"}]},
        "evidence"),
    label("evidence backwards", {"evidence": [{"context": 0, "start": 9, "end": 1, "quote": "x"}]}, "evidence"),
    label("evidence 1,000 times", {"evidence": [{"context": 0, "start": 0, "end": 1, "quote": "x"}] * 1_000},
        "evidence"),
    label("time below nothing", {"active_ms": -1}, "active_ms"),
    label("time beyond 64 bits, as a float", {"active_ms": 1e30}, "active_ms"),
    label("guidelines nobody wrote", {"guideline_version": 999_999}, "guideline"),
    label("a rater beside it", {"rater": "remy"}, "rater"),
    call("labels: 1,001", "POST /api/tasks/<task>/labels/", 422, "labels", {"labels": [{}] * 1_001}, "ana"),
    call("labels: a text", "POST /api/tasks/<task>/labels/", 422, "labels", {"labels": "all"}, "ana"),
    call("a submission of a task that lacks labels", "POST /api/tasks/<task>/submit/", 422, "missing", {}, "ana"),
    call("a reason with a zero", "POST /api/tasks/<task>/skip/", 422, "reason", {"reason": "\0"}, "ana"),
    call("a flag without a reason", "POST /api/tasks/<task>/flag/", 422, "reason", {"reason": "\u200b"}, "ana"),
    call("an annotator's decision", f"PUT {P}/disputes/<verdict>/", 403, "role", {"value": "supported", "reason": "x"},
        "ana", If_Match="1"),
    call("a decision that is no option", f"PUT {P}/disputes/<verdict>/", 422, "maybe",
        {"value": "maybe", "reason": "x"}, If_Match="1"),
    call("a decision on a revision of old", f"PUT {P}/disputes/<verdict>/", 412, "current",
        {"value": "supported", "reason": "x"}, If_Match="0"),
]

WORK = [
    batch("overlap of 10**9", {"overlap": 1_000_000_000}, "1000000000"),
    batch("overlap true", {"overlap": True}, "overlap"),
    batch("one annotator as two", {"annotators": ["ana", "ana"], "overlap": 2}, "1 selected"),
    batch("an annotator of elsewhere", {"annotators": ["mallory"]}, "mallory"),
    batch("a share of 2", {"gold_share": 2}, "gold_share"),
    batch("a day that is none", {"due_date": "2026-02-30"}, "due_date"),
    batch("a selection of objects", {"selection": {"method": "list", "samples": [{"id": 1}]}}, "samples"),
    batch("a seed beyond 64 bits, as a text", {"seed": "18446744073709551616"}, "seed"),
    batch("a name of 10,000", {"name": "n" * 10_000}, "name"),
    batch("proposals of nobody", {"proposals": {"support": "nobody"}}, "nobody"),
    judge("a place nobody knows",
        {"criterion": "support", "model": "m", "prompt": "{{claim}} {{settings.SECRET_KEY}}"}, "SECRET_KEY"),
    judge("a template's tags", {"criterion": "support", "model": "m", "prompt": "{% debug %} {{ 7*7 }} {{claim}}"},
        "7*7"),
    judge("a temperature of 10**9", {**LLM, "temperature": 1e9}, "temperature"),
    judge("a temperature that is true", {**LLM, "temperature": True}, "temperature"),
    judge("examples below nothing", {**LLM, "examples": {"count": -1}}, "count"),
    judge("a field nobody knows", {**LLM, "__class__": "x"}, "__class__"),
    judge("an endpoint of nobody", LLM, "nowhere", endpoint="nowhere"),
    judge("a kind nobody knows", LLM, "pickle", kind="pickle"),
    judge("a config that is a list", [], "config"),
    judge("a weight that is NaN in a text",
        {"dimension": "d", "unit": "answer", "model": "m", "template": "rubric",
            "requirements": [{"text": "x", "weight": "NaN"}]}, "weight"),
    call("endpoint: 10**9 requests at once", f"POST {P}/endpoints/", 422, "concurrency",
        {"name": "e", "base_url": "https://example.org/v1", "concurrency": 10**9}),
    call("endpoint: a file", f"POST {P}/endpoints/", 422, "base_url", {"name": "e", "base_url": "file:///etc/passwd"}),
    call("endpoint: the installation's secret for a key", f"POST {P}/endpoints/", 422, "key_variable",
        {"name": "e", "base_url": "https://93.184.215.14/v1", "key_source": "environment",
            "key_variable": "SECRET_KEY"}),
    call("target: a header of two lines", f"PUT {P}/target/", 422, "header",
        {"endpoint": "lab", "headers": {"X-A": "a\r\nHost: evil"}, "reply": {"answer": "/a"}}),
    call("target: a path to elsewhere", f"PUT {P}/target/", 422, "path",
        {"endpoint": "lab", "path": "//evil.example/", "reply": {"answer": "/a"}}),
    call("target: a pointer that is none", f"PUT {P}/target/", 422, "answer",
        {"endpoint": "lab", "path": "/a", "reply": {"answer": "a~2"}}),
    call("experiment: its baseline against itself", f"POST {P}/experiments/", 422, "versions",
        {"name": "e", "versions": ["v3", "v3"], "metrics": [{"field": "latency_ms"}],
            "rule": {"primary": "latency_ms", "margin": 1}}),
    call("experiment: a margin below nothing", f"POST {P}/experiments/", 422, "margin",
        {"name": "e", "versions": ["v3", "v4"], "metrics": [{"field": "latency_ms"}],
            "rule": {"primary": "latency_ms", "margin": -1}}),
    call("experiment: a level of 1", f"POST {P}/experiments/", 422, "level",
        {"name": "e", "versions": ["v3", "v4"], "metrics": [{"field": "latency_ms"}],
            "rule": {"primary": "latency_ms", "margin": 1, "level": 1}}),
    call("experiment: a draw of 10**12", f"POST {P}/experiments/v4-or-v3/draw/", 422, "questions",
        {"questions": 10**12, "seed": 7}),
    call("gate: YAML that would be run", f"POST {P}/experiments/v4-or-v3/gate/", 422, "tag",
        {"gate": "!!python/object/apply:os.system [id]"}),
    call("gate: a billion laughs", f"POST {P}/experiments/v4-or-v3/gate/", 422, "nchor",
        {"gate": "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]"}),
    call("gate: 10,000 brackets", f"POST {P}/experiments/v4-or-v3/gate/", 422, "gate", {"gate": "[" * 10_000}),
    call("release: a format nobody reads", f"POST {P}/releases/", 422, "format", {"format": "../../x"}),
    call("release: a filter out of SQL", f"POST {P}/releases/", 422, "criteria",
        {"format": "jsonl", "filters": {"criteria": ["support' OR 1=1"]}}),
    call("release: a batch beyond 64 bits", f"POST {P}/releases/", 422, "batch",
        {"format": "jsonl", "filters": {"batch": 9223372036854775807}}),
    call("invite: mail to two", f"POST {P}/invites/", 422, "email",
        {"role": "annotator", "email": "a@example.org\r\nBcc: b@example.org"}),
    call("invite: a role above all", f"POST {P}/invites/", 422, "role", {"role": "owner"}),
    call("invite: for 10**9 days", f"POST {P}/invites/", 422, "days", {"role": "annotator", "days": 10**9}),
    call("member: itself out of the last admin", f"PUT {P}/members/alma/", 409, "admin", {"role": "annotator"}),
    call("view: conditions of code", f"POST {P}/views/", 422, "__import__",
        {"of": "samples", "name": "v", "conditions": {"__import__": "os"}}),
    call("schedule: every -1 weeks", f"POST {P}/audit-schedules/", 422, "weeks",
        {"name": "s", "criteria": ["support"], "annotators": ["ana"], "samples": 1, "weeks": -1}),
    call("bands: limits backwards", f"PUT {P}/bands/", 422, "limits",
        {"metrics": {"faithfulness": {"limits": [0.9, 0.5, 0.1]}}}),
    call("deletion: under another name", f"POST {P}/deletion/", 422, "name", {"name": "other"}),
    call("push: a version with an @", f"POST {P}/samples/", 422, "version", {"version": "v@7", "samples": []}),
    call("push: samples that are one another's id", f"POST {P}/samples/", 422, "duplicate_id",
        {"version": "h1", "samples": [{"id": "a", "question": "q", "answer": "x"}] * 2}),
    call("push: a good row and a bad one", f"POST {P}/samples/", 422, "claims",
        {"version": "h1", "samples": [{"id": "a", "question": "q", "answer": "x"},
            {"id": "b", "question": "q", "answer": "x", "claims": 1}]}),
    call("response: of a question nobody asked", f"POST {P}/responses/", 422, "unknown_question",
        {"version": "h1", "samples": [{"question_id": "zz", "question": "q", "answer": "x"}]}),
    call("response: that took minus a second", f"POST {P}/responses/", 422, "latency_ms",
        {"version": "h1", "samples": [{"question_id": "t-001", "answer": "x", "latency_ms": -1}]}),
    call("token: made by a token", "POST /api/tokens/", 401, "browser", {"name": "t"}),
]

CALLS = [*BODIES, *PROJECTS, *IDS, *LISTS, *LABELS, *WORK]
