"""An installation of before: what is in it stays, and its tables become those of a new one.

`installation_d79ca33.sql.xz` is one, as `pg_dump --no-owner --no-privileges | xz -9e` wrote it at commit d79ca33, the
last with the many migrations that `0001_tables` replaces. In it are the demo with all its judges run, a trial, a check
with canaries, looks, a certificate, decisions, an approval and a flag; `triage`, imported from three files and settled;
and a frozen report of every criterion. `alma` is the admin of the first project, `ida` of the second.

`installation_e3d3137.sql.xz` is the whole demo with its builds, test set and experiments at commit e3d3137, before
anything of backups, single sign-on, scopes and the chained trail; and beside it the two projects with something of
everything by which the API's tests try each route (`tests/annotate/api/conftest.py`). `installation_3c0e23a.sql.xz` is
the small demo (`DEMO=small`) at commit 3c0e23a.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import json
import lzma
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import DataError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.urls import resolve
from django.utils import translation
from knox.crypto import hash_token

from annotate.core.former_names import present_names
from annotate.models import ApiToken, Criterion, DeletedAccount, Sample
from config import embedded
from frontend.reports.in_words import in_words, plot_in_words
from judges.models import AlignmentReport
from judges.reports.write import freeze_report
from systems.models import Question, Response, SystemVersion
from systems.questions.contents import Content
from tests.clients import as_user

INSTALLATION = Path(__file__).with_name("installation_d79ca33.sql.xz")
LATER = [Path(__file__).with_name(f"installation_{commit}.sql.xz") for commit in ("e3d3137", "3c0e23a")]
# Django's own account of what was migrated; what is frozen: its sentences become codes (below); and the sides of
# samples, which are of groups now. Every other table stays as it is.
FROZEN = ("judges_alignmentreport", "judges_look")
CHANGED = ("django_migrations", *FROZEN, "judges_splitmember")
# What batches know since then of how their samples came.
CAME = ("selection", "probability", "stratum")
# Where Django writes what new tables are called.
GROW = ("django_content_type", "auth_permission")
# What followed from a verdict, or from a model, and what a verdict on the human ceiling was called.
GONE = {"headline", "allows", "forbids", "assumption"}
CEILING = {
    "at or above the ceiling": "at_or_above_ceiling",
    "below the ceiling": "below_ceiling",
    "not enough labels": "not_enough_labels",
}
# What reports say since then.
SINCE = {"settled_only", "single_labels", "unsettled", "declared", "left_out", "too_fast"}
# Pages of one kind that each person opens: as many as the demo has judges.
EACH = 8


@pytest.fixture
def empty(transactional_db: None) -> Iterator[None]:
    """A database without a table, as `createdb` leaves it; afterwards the migrated one again, from a dump, which takes
    a tenth of the time of migrating."""
    migrated = _migrated()
    _empty()
    yield
    _empty()
    _restore(migrated)
    ContentType.objects.clear_cache()


@pytest.fixture
def before(empty: None) -> None:
    """The installation of before, not upgraded yet."""
    _restore(lzma.decompress(INSTALLATION.read_bytes()))


@pytest.fixture
def upgraded(empty: None) -> None:
    """The installation of before, upgraded: by the first test that only looks at it."""
    _restore(_of_now())
    ContentType.objects.clear_cache()


@cache
def _of_now() -> bytes:
    _restore(lzma.decompress(INSTALLATION.read_bytes()))
    call_command("migrate", verbosity=0)
    dump = _dump().encode()
    _empty()
    return dump


def _empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE")
        # As `createdb` makes it, or dumps of this database would say how it differs.
        cursor.execute("CREATE SCHEMA public AUTHORIZATION pg_database_owner")
        cursor.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")
        cursor.execute("COMMENT ON SCHEMA public IS 'standard public schema'")
    connection.close()  # with the statements it has prepared on tables that are gone


def _restore(dump: bytes) -> None:
    _run("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", text=dump)


def _run(program: str, *options: str, text: bytes = b"") -> str:
    """PostgreSQL's own programs, on the test's database."""
    folder, _ = embedded.postgres_programs()
    at = connection.settings_dict
    where = [f"--host={at['HOST']}", f"--username={at['USER']}", f"--dbname={at['NAME']}"]
    return subprocess.run(
        [folder / program, *where, *options], input=text, check=True, capture_output=True
    ).stdout.decode()


@cache
def _migrated() -> bytes:
    """The tests' database as it is between tests."""
    return _dump().encode()


def _dump(*options: str) -> str:
    """Without the two lines that carry another random word each time."""
    return re.sub(r"(?m)^\\(un)?restrict .*\n", "", _run("pg_dump", *options))


def _columns() -> dict[str, str]:
    """The columns of each table whose rows stay as they are: what a later version adds to it is not among them."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)
                 FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
                WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> ALL(%s)
                  AND column_name <> ALL(%s)
                GROUP BY table_name""",
            [list(CHANGED), list(CAME)],
        )
        return dict(cursor.fetchall())


def _rows(columns: dict[str, str]) -> dict[str, Counter[str]]:
    found = {}
    with connection.cursor() as cursor:
        for table, names in columns.items():
            cursor.execute(f"SELECT (ROW({names}))::text FROM {table}")
            found[table] = Counter(row for (row,) in cursor.fetchall())
        cursor.execute(
            "SELECT sequencename || ' ' || last_value FROM pg_sequences WHERE sequencename = ANY(%s)",
            [[f"{table}_id_seq" for table in columns if table not in GROW]],
        )
        found["sequences"] = Counter(row for (row,) in cursor.fetchall())
    return found


def test_an_upgrade_keeps_every_row_and_gives_the_tables_of_a_new_installation(before: None) -> None:
    _upgraded()
    upgraded = _schema_read_again()
    # As pytest-django has made it, by migrating from nothing.
    _empty()
    _restore(_migrated())
    assert _schema_read_again() == upgraded


@pytest.mark.parametrize("installation", LATER, ids=lambda path: path.stem)
def test_an_upgrade_of_a_later_installation_keeps_every_row(installation: Path, empty: None) -> None:
    _restore(lzma.decompress(installation.read_bytes()))
    _upgraded()


def _upgraded() -> None:
    """Migrates, and holds every row against what it was."""
    columns = _columns()
    assert len(columns) > 30
    rows = _rows(columns)
    assert sum(map(Counter.total, rows.values())) > 5000
    call_command("migrate", verbosity=0)
    for table, after in _rows(columns).items():
        assert (table, rows[table] - after) == (table, Counter())
        assert table in GROW or (table, after - rows[table]) == (table, Counter())
    # Its trail is chained.
    said = StringIO()
    call_command("trail", "verify", stdout=said)
    assert (
        sum(int(line.split()[1]) for line in said.getvalue().splitlines()) == rows["annotate_auditentry"].total() > 10
    )


def _schema_read_again() -> str:
    """PostgreSQL spells a constraint otherwise when it reads what it wrote."""
    schema = _dump("--schema-only")
    _empty()
    _restore(schema.encode())
    return _dump("--schema-only")


def test_tokens_of_before_go_on(before: None) -> None:
    token = "ts_" + 64 * "5"
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO knox_authtoken (digest, token_key, created, expiry, user_id)"
            " SELECT %s, %s, now(), now() + interval '1 day', id FROM annotate_user WHERE username = 'alma'",
            [hash_token(token), token[:15]],
        )
    call_command("migrate", verbosity=0)
    reply = Client().get("/api/me/", headers={"Authorization": f"Token {token}"})
    assert (reply.status_code, reply.json()["username"]) == (200, "alma")
    assert ApiToken.objects.get().scopes == ["admin"]


def test_names_of_deleted_accounts_are_keyed_and_still_found(before: None) -> None:
    call_command("migrate", "annotate", "0041", verbosity=0)
    plain = [hashlib.sha256(name.encode()).hexdigest() for name in ("gone", "gone@example.org")]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotate_deletedaccount (user_id, former, deleted_at)"
            " SELECT id, %s, now() FROM annotate_user WHERE username = 'ida'",
            [plain],
        )
    # Twice: an upgrade that was interrupted between its migrations, and one that was taken back.
    for target in ("0042", "0041", "0043"):
        call_command("migrate", "annotate", target, verbosity=0)
    call_command("migrate", verbosity=0)
    former = DeletedAccount.objects.get().former
    assert former == sorted(map(DeletedAccount.digest, ("gone", "gone@example.org")))
    assert not {*former} & {*plain}
    assert present_names(["gone", "Gone@example.org", "here"]) == {"gone": "ida", "Gone@example.org": "ida"}
    with pytest.raises(DataError), connection.cursor() as cursor:  # as a process of the version before would write
        cursor.execute("UPDATE annotate_deletedaccount SET former = %s::varchar(64)[]", [plain])


def test_guidelines_of_before_are_version_1_and_stamped_where_there_was_no_other(before: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, guidelines FROM annotate_project ORDER BY slug = 'demo' DESC, id")
        texts = dict(cursor.fetchall())
        told, changed = texts
        cursor.execute(
            "SELECT count(*) FROM annotate_label l JOIN annotate_rater r ON r.id = l.rater_id"
            " WHERE r.project_id = %s AND l.task_id IS NOT NULL",
            [told],
        )
        (labelled,) = cursor.fetchone()
        assert labelled > 50
        # Of the other one, an earlier text was shown to whoever labelled: one of its labels lies in a task of now.
        cursor.execute(
            "UPDATE annotate_label SET task_id = (SELECT min(id) FROM annotate_task) WHERE id = (SELECT min(l.id)"
            " FROM annotate_label l JOIN annotate_rater r ON r.id = l.rater_id WHERE r.project_id = %s)",
            [changed],
        )
        cursor.execute(
            "INSERT INTO annotate_auditentry (project_id, action, subject, details, created_at)"
            """ VALUES (%s, 'project.changed', 'x', '{"fields": ["guidelines"]}', now())""",
            [changed],
        )
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT project_id, number, text, author_id, created_at FROM annotate_guidelineversion")
        assert {row[0]: row[1:] for row in cursor.fetchall()} == {
            pk: (1, text, None, None) for pk, text in texts.items()
        }
        cursor.execute(
            "SELECT r.project_id, l.guideline_version, count(*) FROM annotate_label l"
            " JOIN annotate_rater r ON r.id = l.rater_id GROUP BY 1, 2"
        )
        stamped = {(project, version): n for project, version, n in cursor.fetchall() if version is not None}
        assert stamped == {(told, 1): labelled}


def test_versions_of_before_are_there_and_what_they_were_pushed_as_are_responses(before: None) -> None:
    pushed = {
        # Of one question, which first said one thing, then another, then the first again.
        "kb-1@v6": ("v6", "Which port?"),
        "kb-1@v7": ("v7", "Which port is it?"),
        "kb-1@v8": ("v8", "Which port?"),
        "a@b@v6": ("v6", "At?"),
        # Its end is no version of its own; it was named by its content; its version stands elsewhere.
        "kb-2@v6": ("v7", "And TLS?"),
        f"sample-{'0' * 32}@v6": ("v6", "Nameless?"),
        "kb-3": ("v9", "From a file?"),
    }
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE copied AS SELECT * FROM annotate_sample ORDER BY id LIMIT 1")
        cursor.execute("UPDATE copied SET reference = 'r', key_facts = '[\"f\"]', relevant_doc_ids = '{d}'")
        for name, (version, question) in pushed.items():
            cursor.execute(
                "UPDATE copied SET id = (SELECT max(id) + 1 FROM annotate_sample), external_id = %s,"
                " pipeline_version = %s, question = %s",
                [name, version, question],
            )
            cursor.execute("INSERT INTO annotate_sample SELECT * FROM copied")
        cursor.execute("SELECT project_id FROM copied")
        (project,) = cursor.fetchone()
        cursor.execute("SELECT DISTINCT project_id, pipeline_version FROM annotate_sample WHERE pipeline_version <> ''")
        versions = set(cursor.fetchall())
        cursor.execute("SELECT count(*) FROM annotate_sample")
        (samples,) = cursor.fetchone()
    call_command("migrate", verbosity=0)
    assert set(SystemVersion.objects.values_list("project", "name")) == versions
    assert {(project, name) for name in ("v6", "v7", "v8", "v9")} <= versions
    ours = Response.objects.filter(question__project=project, version__name__in=["v6", "v7", "v8", "v9"])
    assert {
        (
            one.sample.external_id,
            one.question.external_id,
            one.version.name,
            one.revision.number,
            one.repeat,
            one.status,
        )
        for one in ours.select_related("sample", "question", "version", "revision")
    } == {
        ("kb-1@v6", "kb-1", "v6", 1, 0, "ok"),
        ("kb-1@v7", "kb-1", "v7", 2, 0, "ok"),
        ("kb-1@v8", "kb-1", "v8", 1, 0, "ok"),
        ("a@b@v6", "a@b", "v6", 1, 0, "ok"),
    }
    question = Question.objects.get(external_id="kb-1")
    first = question.revisions.get(number=1)
    assert [one.text for one in question.revisions.all()] == ["Which port?", "Which port is it?"]
    assert (first.reference, first.key_facts, first.relevant) == ("r", ["f"], {"d": 1})
    assert bytes(first.content_hash) == Content("Which port?", "r", ["f"], first.entities, {"d": 1}).digest()
    for response in Response.objects.select_related("sample", "question"):
        assert response.sample.group_key == response.question.group_key == response.question.external_id
    assert Sample.objects.count() == samples
    assert Sample.objects.get(external_id="kb-3").group_key == ""


def test_answers_of_before_abstain_where_nothing_was_said_of_their_claims(before: None) -> None:
    refusal = "I don't have that information."
    with connection.cursor() as cursor:
        cursor.execute("SELECT sample_id FROM annotate_label WHERE unit LIKE 'claim:%' ORDER BY id LIMIT 1")
        (labelled,) = cursor.fetchone()
        # A sample that people said nothing of, and only a judge has scored its claims.
        cursor.execute("CREATE TEMP TABLE copied AS SELECT * FROM annotate_sample WHERE id = %s", [labelled])
        cursor.execute("UPDATE copied SET id = (SELECT max(id) + 1 FROM annotate_sample), external_id = 'only scored'")
        cursor.execute("INSERT INTO annotate_sample SELECT * FROM copied RETURNING id")
        (scored,) = cursor.fetchone()
        cursor.execute("CREATE TEMP TABLE given AS SELECT * FROM judges_score WHERE unit LIKE 'claim:%' LIMIT 1")
        cursor.execute("UPDATE given SET id = (SELECT max(id) + 1 FROM judges_score), sample_id = %s", [scored])
        cursor.execute("INSERT INTO judges_score SELECT * FROM given")
        cursor.execute("UPDATE annotate_sample SET answer = %s WHERE id = ANY(%s)", [refusal, [labelled, scored]])
        cursor.execute("SELECT id, claims FROM annotate_sample ORDER BY id")
        claims = cursor.fetchall()
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, abstained, abstained_source FROM annotate_sample WHERE answer = %s", [refusal])
        assert {pk: (abstained, source) for pk, abstained, source in cursor.fetchall()} == {
            labelled: (False, "rule"),
            scored: (True, "rule"),
        }
        cursor.execute("SELECT id, claims FROM annotate_sample ORDER BY id")
        assert cursor.fetchall() == claims


def test_every_page_of_an_upgraded_installation_opens(upgraded: None, django_user_model: Any) -> None:
    # As the worker does: figures have changed since.
    for criterion in Criterion.objects.filter(reports__isnull=False).distinct():
        freeze_report(criterion=criterion)
    opened: Counter[str] = Counter()
    for name in ("alma", "ida", "ana"):
        client = as_user(django_user_model.objects.get(username=name))
        opened += _open_all(client)
    assert set(opened) >= {
        "audit", "batch", "canary-check", "criterion", "dispute", "flags", "import-job", "judge", "label", "lab-trial",
        "release", "report", "report-annotators", "report-compare", "report-judge", "report-planner", "report-triage",
        "run", "sample",
    }  # fmt: skip


def test_an_old_report_can_be_read_and_the_next_one_is_found_again(upgraded: None) -> None:
    """Its figures are not those of today; what it rests on gives today's."""
    for slug, number in (("demo", 3), ("triage", 1)):
        with pytest.raises(CommandError, match="This report is from an earlier version of Touchstone"):
            call_command("reproduce", slug, number)
        old = AlignmentReport.objects.get(project__slug=slug, number=number)
        made, said = freeze_report(criterion=old.criterion), StringIO()
        assert made.number > number
        call_command("reproduce", slug, made.number, stdout=said)
        assert said.getvalue().endswith("every figure is the same.\n")


@pytest.fixture
def words_of_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes are put into the words that sentences had when they became codes: the product's own have changed since."""
    then = importlib.import_module("judges.migrations.0002_codes_for_sentences")
    words = {
        code: re.sub(r"\{(\w+):\w+\}", r"%(\1)s", sentence.replace("%", "%%") if "{" in sentence else sentence)
        for table in (then._SENTENCES, then._WORDS, then._DESCRIBED)
        for code, sentence in table.items()
    }
    now = importlib.import_module("frontend.reports.in_words")
    monkeypatch.setattr(now, "_ALL_WORDS", {**now._ALL_WORDS, **words})


@pytest.mark.usefixtures("before", "words_of_then")
def test_sentences_of_old_reports_and_looks_become_codes_that_say_the_same() -> None:
    frozen = _frozen()
    _empty()
    _restore(_of_now())
    said = 0
    for old, new in zip(frozen, _frozen(), strict=True):
        if "parameters" in old:
            # What they rest on is said since.
            assert new["parameters"].pop("labels") == "all"
            # None was found again since.
            assert new.pop("present_at") == old["created_at"]
        else:
            # They are counted over judges since.
            del old["number"], new["number"], new["project_id"], new["criterion_key"], new["promise"]
        assert {**new, "result": None, "plots": None} == {**old, "result": None, "plots": None}
        with translation.override("en"):
            said += _same(old["result"], new["result"])
            for name, svg in old.get("plots", {}).items():
                assert plot_in_words(new["plots"][name]) == svg
        assert new.get("plots", {}).keys() == old.get("plots", {}).keys()
    assert said > 400


def test_sides_and_looks_of_before_are_of_the_criterion(before: None) -> None:
    """Over its versions and judges; what was dev for any version is dev."""
    with connection.cursor() as cursor:
        # A later version, for which one sample that was dev came to test, and one that was test to dev.
        cursor.execute("SELECT criterion_id FROM judges_look ORDER BY id LIMIT 1")
        (first,) = cursor.fetchone()
        cursor.execute("CREATE TEMP TABLE copied AS SELECT * FROM annotate_criterion WHERE id = %s", [first])
        cursor.execute(
            "UPDATE copied SET id = (SELECT max(id) + 1 FROM annotate_criterion), version = 9, is_current = false"
        )
        cursor.execute("INSERT INTO annotate_criterion SELECT * FROM copied RETURNING id")
        (later,) = cursor.fetchone()
        cursor.execute(
            "INSERT INTO judges_splitmember (criterion_id, sample_id, is_dev)"
            " SELECT %s, min(sample_id), NOT is_dev FROM judges_splitmember WHERE criterion_id = %s GROUP BY is_dev",
            [later, first],
        )
        # And a look with another judge, before the others.
        cursor.execute("CREATE TEMP TABLE look AS SELECT * FROM judges_look WHERE criterion_id = %s LIMIT 1", [first])
        cursor.execute(
            "UPDATE look SET id = (SELECT max(id) + 1 FROM judges_look), criterion_id = %s, created_at = '2026-01-01',"
            " judge_id = (SELECT min(id) FROM judges_judge WHERE id <> judge_id)",
            [later],
        )
        cursor.execute("INSERT INTO judges_look SELECT * FROM look RETURNING id")
        (earliest,) = cursor.fetchone()
        cursor.execute(
            "SELECT c.project_id, c.key, s.external_id, bool_or(m.is_dev) FROM judges_splitmember m"
            " JOIN annotate_criterion c ON c.id = m.criterion_id JOIN annotate_sample s ON s.id = m.sample_id"
            " GROUP BY 1, 2, 3"
        )
        known = {(project, key, name): "dev" if is_dev else "test" for project, key, name, is_dev in cursor.fetchall()}
        cursor.execute("SELECT id, level FROM judges_look ORDER BY id")
        levels = cursor.fetchall()
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute('SELECT project_id, criterion_key, "group", side FROM judges_groupside')
        assert {(project, key, group): side for project, key, group, side in cursor.fetchall()} == known
        cursor.execute("SELECT id, level FROM judges_look ORDER BY id")
        assert cursor.fetchall() == levels
        cursor.execute(
            "SELECT project_id, criterion_key, array_agg(number ORDER BY created_at, id), max(promise)"
            " FROM judges_look GROUP BY 1, 2"
        )
        for _project, _key, numbers, promise in cursor.fetchall():
            assert (numbers, promise) == ([*range(1, len(numbers) + 1)], 0)
        cursor.execute("SELECT number FROM judges_look WHERE id = %s", [earliest])
        assert cursor.fetchone() == (1,)


def test_what_a_pipeline_pushed_of_one_question_is_a_group(before: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM annotate_sample ORDER BY id LIMIT 5")
        keys = [pk for (pk,) in cursor.fetchall()]
        hashed = f"sample-{32 * 'a'}@v8"
        for pk, name, version in zip(
            keys, ("kb-1@v7", "kb-1@v8", "kb-1@v9", "@v7", hashed), ("v7", "v8", "", "v7", "v8"), strict=True
        ):
            cursor.execute(
                "UPDATE annotate_sample SET external_id = %s, pipeline_version = %s WHERE id = %s", [name, version, pk]
            )
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT group_key FROM annotate_sample WHERE id = ANY(%s) ORDER BY id", [keys])
        assert [group for (group,) in cursor.fetchall()] == ["kb-1", "kb-1", "", "", ""]


def test_a_sentence_that_was_never_ours_is_kept_as_it_is() -> None:
    migration = importlib.import_module("judges.migrations.0002_codes_for_sentences")
    found = migration.with_codes({"reason": "nobody wrote this", "kappa": {"reason": None, "value": 0.5}})
    assert found == {
        "reason": {"code": "written", "text": "nobody wrote this"},
        "kappa": {"reason": None, "value": 0.5},
    }
    assert in_words(found["reason"]) == "nobody wrote this"


def test_single_labels_are_counted_in_old_reports_without_passes() -> None:
    """Reports on criteria with passes said how many they were."""
    migration = importlib.import_module("judges.migrations.0004_labels_of_reports")
    labels = {"sample": ["s1", "s1", "s2", "s3"], "unit": ["answer"] * 4}
    evidence = gzip.compress(
        json.dumps({"ratings": labels, "verdicts": {"sample": ["s3"], "unit": ["answer"]}}).encode()
    )
    for before, alone in (({}, 1), ({"single_labels": 7}, 7)):
        reference = migration._asked_since({"reference": before}, evidence)["reference"]
        assert (reference["single_labels"], reference["unsettled"]["single"]) == (alone, alone)


def _frozen() -> list[dict[str, Any]]:
    """Every report and look as it is stored."""
    with connection.cursor() as cursor:
        rows = []
        for table in FROZEN:
            cursor.execute(f"SELECT to_jsonb(r) FROM {table} r ORDER BY id")
            rows += [json.loads(row) for (row,) in cursor.fetchall()]
    return rows


def _same(old: Any, new: Any) -> int:
    """Holds every figure and sentence against what it became; returns how many sentences there were."""
    if isinstance(old, str) and isinstance(new, dict):
        assert new["code"] != "written"
        # A minus was a hyphen then.
        assert in_words(new).replace("−", "-") == old
        return 1
    if isinstance(old, list):
        return sum(_same(one, other) for one, other in zip(old, new, strict=True))
    if not isinstance(old, dict):
        assert new == old
        return 0
    if "headline" in old:
        # A trust verdict, which no page shows any more.
        assert new.keys() == {"verdict", "reason", "more", "part"}
        return 1
    elif old.get("verdict") in CEILING:
        old = {**old, "verdict": CEILING[old["verdict"]]}
    kept = {"goal" if name == "sentence" else name: one for name, one in old.items() if name not in GONE}
    assert new.keys() - kept.keys() <= SINCE
    return sum(_same(one, new[name]) for name, one in kept.items())


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (address := dict(attrs).get("href")):
            self.found.append(address)


def _open_all(client: Client) -> Counter[str]:
    """Follows the links from the front page on, the nearest first, to so many pages of each kind. Returns how many, by
    their routes."""
    opened: Counter[str] = Counter()
    seen, waiting = {"/"}, ["/"]
    while waiting:
        address = waiting.pop(0)
        route = resolve(address.partition("?")[0]).view_name
        if opened[route] == EACH:
            continue
        opened[route] += 1
        reply = client.get(address, follow=True)
        assert reply.status_code == 200, address
        if reply.headers["Content-Type"].startswith("text/html"):
            links = _Links()
            links.feed(reply.content.decode())
            there = {urldefrag(urljoin(address, link)).url for link in links.found}
            new = sorted(
                one for one in there - seen if one.startswith("/") and not one.startswith(("/static/", "/api/"))
            )
            seen.update(new)
            waiting += new
    return opened


@pytest.mark.django_db
@pytest.mark.parametrize("app", ["annotate", "judges"])
def test_a_database_left_half_way_is_told_what_to_do(app: str) -> None:
    """Django would leave the whole app out, and say that there is nothing to migrate."""
    of_app = MigrationRecorder(connection).migration_qs.filter(app=app)
    of_app.filter(name="0001_tables").delete()
    replaced = MigrationLoader(connection).disk_migrations[app, "0001_tables"].replaces
    newest = of_app.filter(name__in=[name for _app, name in replaced]).order_by("name").last()
    newest.delete()
    with pytest.raises(CommandError, match=rf"has {app}\.\S+, but not {app}\.{newest.name},.* commit d79ca33, run"):
        call_command("migrate", verbosity=0)
