"""Files that commands read: descriptions of projects, judges, experiments and gates, things that are no files, backups.

Each has a word that the error must hold; every one ends with a CommandError, never with a traceback.
"""

# The tables stay tables.
# fmt: off
from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command


@dataclass(frozen=True)
class Given:
    command: str  # `{}` stands for the file
    name: str
    make: Callable[[Path], object]  # makes the file, or whatever else stands at its path
    says: str

    def __str__(self) -> str:
        return f"{self.command.split()[0]}: {self.name}"


def refused(given: Given, path: Path) -> str:
    given.make(path)
    said = io.StringIO()
    name, *rest = (word.replace("{}", str(path)) for word in given.command.split())
    with pytest.raises(CommandError) as error:
        call_command(name, *rest, stdout=io.StringIO(), stderr=said)
    return f"{error.value}\n{said.getvalue()}"


def given(command: str, name: str, what: bytes | Any, says: str) -> Given:
    """`what`: bytes, something that makes the path by itself, or what is written as JSON."""
    if callable(what):
        return Given(command, name, what, says)
    data = what if isinstance(what, bytes) else json.dumps(what).encode()
    return Given(command, name, lambda path: path.write_bytes(data), says)


def project(name: str, what: Any, says: str) -> Given:
    return given("create_project hostile --file {}", name, what, says)


def judge(name: str, what: Any, says: str) -> Given:
    return given("create_judge demo --file {}", name, what, says)


def experiment(name: str, changes: Any, says: str) -> Given:
    good = {"versions": ["v3", "v4"], "metrics": [{"field": "latency_ms"}],
        "rule": {"primary": "latency_ms", "margin": 1}}
    what = {**good, **changes} if isinstance(changes, dict) else changes
    return given("create_experiment demo hostile --file {}", name, what, says)


def gate(name: str, what: str, says: str) -> Given:
    return given("gate_systems demo v4-or-v3 --file {} --format json", name, what.encode(), says)


def around(path: Path) -> None:
    path.symlink_to(path)


GATE = "version: 1\ncandidate: v4\nbaseline: v3\nconditions:\n- {metric: faithfulness, versus: bar, bar: 0.5"
FILES = [
    *(given(f"import_{kind} {{}}", name, make, says) for kind in ("samples demo",) for name, make, says in (
        ("a folder", Path.mkdir, "older"), ("a link to itself", around, "not found"),
            ("nothing at all", lambda path: None, "ile"),
        ("a pipe", os.mkfifo, "ile"), ("a device", lambda path: path.symlink_to("/dev/zero"), "ile"),
        ("a link to nowhere", lambda path: path.symlink_to("nowhere"), "ile"),
    )),
    project("a folder", Path.mkdir, "directory"),
    project("not UTF-8", b'{"name": "\xff"}', "UTF-8"),
    project("UTF-16", '{"name": "x"}'.encode("utf-16"), "UTF-8"),
    project("nothing", b"", "JSON"),
    project("a list", [], "object"),
    project("a name that is a number", {"name": 7}, "name"),
    project("a name with a zero", {"name": "a\0"}, "name"),
    project("a key twice", b'{"name": "a", "name": "b"}', "name"),
    project("NaN", b'{"name": NaN}', "NaN"),
    project("10,000 brackets", b'{"criteria": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "deep"),
    project("half a surrogate", b'{"name": "\\ud800"}', "surrogate"),
    project("a word nobody knows", {"criterions": []}, "criterions"),
    project("a criterion of a number", {"criteria": [7]}, "criteria"),
    judge("nothing", b"", "JSON"),
    judge("a list", [1], "object"),
    judge("no kind", {"name": "h", "config": {}}, "kind"),
    judge("a name of zero width",
        {"name": "\u200b", "kind": "lexical", "config": {"measure": "token_overlap", "criterion": "support"}}, "name"),
    judge("a measure nobody knows",
        {"name": "h", "kind": "lexical", "config": {"measure": "eval", "criterion": "support"}}, "measure"),
    judge("a share of the code",
        {"name": "h", "kind": "lexical",
            "config": {"measure": "rouge_l", "criterion": "support", "share": "__import__"}}, "share"),
    judge("k1 of 1e308", {"name": "h", "kind": "lexical",
        "config": {"measure": "bm25", "criterion": "relevance", "k1": 1e308}}, "k1"),
    judge("itself in an ensemble",
        {"name": "h", "kind": "ensemble",
            "config": {"criterion": "support", "members": [{"judge": "h"}, {"judge": "h"}]}}, "members"),
    judge("a model out of a folder",
        {"name": "h", "kind": "nli", "config": {"criterion": "support", "model": "../../etc"}}, "model"),
    experiment("nothing", b"", "JSON"),
    experiment("a version nobody has", {"versions": ["v3", "../v9"]}, "v9"),
    experiment("1,001 versions", {"versions": [f"v{n}" for n in range(1_001)]}, "versions"),
    experiment("a metric of two kinds", {"metrics": [{"field": "cost", "criterion": "support"}]}, "metrics"),
    experiment("a primary that is not there", {"rule": {"primary": "cost", "margin": 1}}, "primary"),
    experiment("a guard of itself",
        {"rule": {"primary": "latency_ms", "margin": 1, "guards": [{"metric": "latency_ms", "margin": 1}]}}, "guard"),
    experiment("a margin of words", {"rule": {"primary": "latency_ms", "margin": "0"}}, "margin"),
    gate("nothing", "", "not nothing"),
    gate("JavaScript", "() => 1", "() => 1"),
    gate("a tab", "version:\t1\n\tcandidate: v4", "line"),
    gate("an anchor", GATE + ", by: &a lower}\n", "anchor"),
    gate("a key twice", GATE + ", bar: 0.1}\n", "bar"),
    gate("a bar of NaN", GATE.replace("0.5", ".nan") + "}\n", "bar"),
    gate("a bar of words", GATE.replace("0.5", "yes") + "}\n", "bar"),
    gate("a date for a version", GATE.replace("v4", "2026-11-28") + "}\n", "candidate"),
    gate("no condition", "version: 1\ncandidate: v4\nbaseline: v3\nconditions: []\n", "conditions"),
    gate("10,000 brackets", "[" * 10_000, "bracket"),
    gate("two documents", GATE + "}\n---\n{}\n", "document"),
    gate("a zero", "version: 1\0", "#x0000"),
]


def packed(*members: tuple[str, bytes], links: tuple[tuple[str, str], ...] = (), pipe: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for name, target in links:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
        if pipe:
            entry = tarfile.TarInfo(pipe)
            entry.type = tarfile.FIFOTYPE
            archive.addfile(entry)
    return out.getvalue()[: archive.offset]  # without what pads it


def sealed(manifest: bytes) -> bytes:
    seal = hashlib.sha256(manifest).hexdigest().encode()
    return packed(("touchstone-backup-1", b""), ("manifest.json", manifest), ("manifest.sha256", seal))


def restore(name: str, what: Any, says: str) -> Given:
    return given("restore {}", name, what, says)


# For an empty installation; `<backup>` is one that is good.
BACKUPS = [
    restore("a folder", Path.mkdir, "Is a directory"),
    restore("nothing", b"", "no tar"),
    restore("noise", bytes(range(256)) * 40, "no tar"),
    restore("a dump of PostgreSQL", b"PGDMP\x01\x0e\x00" + bytes(600), "no tar"),
    restore("SQL", b"DROP TABLE auth_user;\n" * 100, "no tar"),
    restore("a tar of nothing", packed(), "begins with"),
    restore("a way out of the folder", packed(("../../etc/cron.d/x", b"* * * * * root id\n")), "begins with"),
    restore("a link first", packed(links=(("manifest.json", "/etc/passwd"),)), "begins with"),
    restore("a pipe in it", packed(pipe="manifest.json"), "begins with"),
    restore("no manifest", packed(("touchstone-backup-1", b"")), "not whole"),
    restore("a manifest without a seal", packed(("touchstone-backup-1", b""), ("manifest.json", b"{}")), "not whole"),
    *(restore(f"a manifest of {what}", sealed(manifest), "manifest.json is none") for what, manifest in (
        ("nothing", b""), ("half an object", b"{"), ("a list", b"[]"), ("an object", b"{}"), ("NaN", b"NaN"),
        ("lists", b'{"tables": [], "files": []}'), ("100,000 brackets", b"[" * 100_000), ("Latin-1", b'{"caf\xe9": 1}'),
    )),
    restore("another seal", packed(("touchstone-backup-1", b""), ("manifest.json", b"{}"), ("manifest.sha256", b"0")),
        "altered"),
    restore("a tar in gzip", gzip.compress(packed(("manifest.json", b"{}"))), "no tar"),
]
