"""What was there before there were systems: every version that samples name is one, and what a pipeline pushed under one id
in several versions, or in one, is a question with responses.

Such an id is recognised by its end alone: `kb-1@v6` is the answer of `v6` to `kb-1` where the sample's version is `v6`.
Samples that a pipeline pushed without an id are named by their content, and so are no answers to one question. Nor are
samples that stand in different groups: all answers to a question are one group, and a sample never leaves its own. These
stay as they are until a person says what belongs together.
"""

import hashlib
import json
from itertools import groupby, islice
from operator import itemgetter

from django.db import migrations

_VERSIONS = """
    INSERT INTO systems_systemversion
        (project_id, name, configuration, commit, parent_commit, price, tags, is_baseline, created_at)
    SELECT project_id, pipeline_version, '{}', '', '', '{}', '{}', false, min(created_at)
      FROM annotate_sample WHERE pipeline_version <> ''
     GROUP BY project_id, pipeline_version ORDER BY project_id, min(id)
"""
_PUSHED = """
    SELECT s.project_id, left(s.external_id, length(s.external_id) - length(s.pipeline_version) - 1) AS own,
           s.id, v.id, s.group_key, s.question, s.reference, s.key_facts::text, s.entities::text, s.relevant_doc_ids,
           s.created_at
      FROM annotate_sample s
      JOIN systems_systemversion v ON v.project_id = s.project_id AND v.name = s.pipeline_version
     WHERE s.pipeline_version <> '' AND right(s.external_id, length(s.pipeline_version) + 1) = '@' || s.pipeline_version
       AND length(s.external_id) > length(s.pipeline_version) + 1
       AND s.external_id !~ '^sample-[0-9a-f]{32}@'
     ORDER BY 1, 2, 3
"""
_OF_GROUP = "UPDATE annotate_sample SET group_key = %s WHERE id = ANY(%s) AND group_key = ''"
_MANY = 1000


def _pushed(connection):
    """The samples of each question, the earliest first. They stay in PostgreSQL until they are asked for."""
    with connection.connection.cursor(name="pushed") as cursor:
        cursor.execute(_PUSHED)
        for (project, own), rows in groupby(cursor, key=itemgetter(0, 1)):
            yield project, own, [row[2:] for row in rows]


def _content(row):
    """As systems.questions.contents.Content: what a question says, and what of it is set."""
    _sample, _version, _group, text, reference, key_facts, entities, relevant, _at = row
    said = {
        "text": text,
        "reference": reference,
        "key_facts": json.loads(key_facts),
        "entities": json.loads(entities),
        "relevant": dict.fromkeys(relevant, 1),
    }
    set_of_it = {name: value for name, value in said.items() if value not in (None, "", [], {})}
    canonical = json.dumps(set_of_it, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return {**said, "content_hash": hashlib.blake2b(canonical.encode(), digest_size=16).digest()}


def make_responses(apps, schema_editor):
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        cursor.execute(_VERSIONS)
    pushed = _pushed(connection)
    while many := list(islice(pushed, _MANY)):
        with_one_group = [(project, own, rows, {row[2] or own for row in rows}) for project, own, rows in many]
        _write(apps, connection, [(*one, groups.pop()) for *one, groups in with_one_group if len(groups) == 1])


def _write(apps, connection, found):
    Question, QuestionRevision, Response = (
        apps.get_model("systems", name) for name in ("Question", "QuestionRevision", "Response")
    )
    questions = Question.objects.bulk_create(
        Question(project_id=project, external_id=own, group_key=group) for project, own, _rows, group in found
    )
    revisions, answers = [], []
    for question, (_project, own, rows, _group) in zip(questions, found, strict=True):
        # Each text is a revision, in the order in which they came; it has what was known of it last.
        last = {row[3]: row for row in rows}
        of_text = {}
        for number, (text, row) in enumerate(last.items(), start=1):
            of_text[text] = QuestionRevision(question=question, number=number, **_content(row))
        revisions += of_text.values()
        answers += [(question, of_text[row[3]], row) for row in rows]
        with connection.cursor() as cursor:
            cursor.execute(_OF_GROUP, [own, [row[0] for row in rows]])
    QuestionRevision.objects.bulk_create(revisions)
    Response.objects.bulk_create(
        Response(question=question, revision=revision, version_id=row[1], sample_id=row[0], status="ok")
        for question, revision, row in answers
    )


class Migration(migrations.Migration):
    dependencies = [
        ("systems", "0002_what_stays"),
        ("annotate", "0027_import_options"),
    ]

    operations = [
        migrations.RunPython(make_responses, migrations.RunPython.noop),
    ]
