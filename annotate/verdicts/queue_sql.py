"""The statements of the reviewer's queue (annotate.verdicts.read): what waits, what may be checked, and in which order.

Hand-written, because each goes over what waits in an index that has nothing else, and touches no row but those that are
shown.
"""

from __future__ import annotations

from annotate.core.blindness import SAMPLES_TO_LABEL
from annotate.core.counting import IS_LATEST
from annotate.core.units import no_abstention
from annotate.labels.read import OF_BATCH
from annotate.models.batch import OPEN_TASK_STATUSES_SQL
from annotate.models.label import DECIDED_METHODS, RULED_METHODS

# disputed: enough labels, and no rule settles them. short: fewer labels than the sample was to get, or
# than its batch says that it takes (Batch.settle_votes). reopened: decided, and changed since. returned: sent back to
# an annotator, and so out of every other list until it is submitted again.
# agreed: settled by the votes themselves and not approved yet; nothing has to be done about them, and a reviewer may
# look at all of them or at a share drawn at random. single: those of them that rest on one label, and settle nothing
# until somebody approves them.
AGREED, SINGLE, RETURNED = "agreed", "single", "returned"
TO_CHECK = (AGREED, SINGLE)
STATES = ("disputed", "short", "reopened", RETURNED, AGREED, SINGLE)


def _quoted(methods: tuple[str, ...]) -> str:
    return ", ".join(f"'{method}'" for method in methods)


def of_project(verdict: str) -> str:
    return f"{verdict}.criterion_id = ANY(ARRAY(SELECT id FROM annotate_criterion WHERE project_id = %(project)s))"


_NOT_SETTLED = f"""
    SELECT v.* FROM annotate_verdict v
     WHERE {of_project("v")} AND {no_abstention("v")} AND NOT (v.state = 'settled')
"""
# With how much their samples matter. A sample's place must not change while a reviewer decides its units one by one:
# units that were decided count as well as those that wait. For the same reason reopened units are a list of their own
# in front. Only samples of which something waits are weighed.
_WEIGHED = f"""
    SELECT v.id, v.sample_id, v.criterion_id, v.unit, v.state, v.batch_id,
           count(*) OVER of_sample AS disputes, sum(1 - coalesce(v.agreement, 0)) OVER of_sample AS spread
      FROM annotate_verdict v
     WHERE {of_project("v")} AND {no_abstention("v")}
       AND (NOT (v.state = 'settled') OR v.method IN ({_quoted(tuple(one.value for one in DECIDED_METHODS))}))
       AND v.sample_id = ANY(ARRAY(
           SELECT DISTINCT w.sample_id FROM annotate_verdict w WHERE {of_project("w")} AND NOT (w.state = 'settled')))
    WINDOW of_sample AS (PARTITION BY v.sample_id)
"""
_WAITING = f"""
    WITH waiting AS (
        SELECT e.*, c.position, c.key, c.name
          FROM ({{source}}) AS e JOIN annotate_criterion c ON c.id = e.criterion_id
         WHERE e.state <> 'settled' AND {IS_LATEST.format(verdict="e")} AND {{filters}}
    )
"""
WAITING = _WAITING.replace("{source}", _NOT_SETTLED)
WAITING_WEIGHED = _WAITING.replace("{source}", _WEIGHED)

_IS_UNCHECKED = f"""
    e.state = 'settled' AND e.method IN ({_quoted(tuple(one.value for one in RULED_METHODS))})
    AND e.approved_by_id IS NULL
"""
WAITING_FOR_CHECK = f"""
    WITH waiting AS (
        SELECT e.id, e.sample_id, e.criterion_id, e.unit, e.state, e.batch_id, c.position, c.key, c.name
          FROM annotate_verdict e JOIN annotate_criterion c ON c.id = e.criterion_id
         WHERE c.project_id = %(project)s AND {_IS_UNCHECKED}
           AND {IS_LATEST.format(verdict="e")} AND {no_abstention("e")} AND {{filters}}
    )
"""
# The draw depends on the seed and the unit only, so that the same units are drawn again.
DRAWN = """
    ('x' || substr(md5(%(seed)s || ':' || e.sample_id || ':' || e.unit || ':' || c.key), 1, 7))::bit(28)::int
        < %(share)s * 268435456
"""

# A unit's place. As one value, or PostgreSQL may go through all verdicts in the order of samples until a page is full.
PLACE = "sample_id, position, key, criterion_id, coalesce(nullif(split_part(unit, ':', 2), ''), '0')::int, unit, id"
BY_SAMPLE = f"ROW({PLACE})"
BY_WEIGHT = f"(state = 'reopened') DESC, disputes DESC, spread DESC, {BY_SAMPLE}"

# Those that no reviewer has decided yet, each with the value that most votes are for.
DISPUTED = """
    SELECT w.id, v.revision, v.criterion_id, v.sample_id, v.unit, v.agreement, jsonb_array_length(v.votes),
           (SELECT vote -> 'value' FROM jsonb_array_elements(v.votes) AS vote GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)
      FROM (SELECT id, row_number() OVER (ORDER BY {order}) AS at FROM waiting) AS w
      JOIN annotate_verdict v ON v.id = w.id
     WHERE v.state = 'disputed' ORDER BY w.at
"""

# Read once, however few units PostgreSQL expects: for few it compares each of them with all tasks, for minutes.
NOT_BLIND = f"e.sample_id NOT IN ({SAMPLES_TO_LABEL})"
NOT_BLIND_WITHIN = f"e.sample_id NOT IN ({SAMPLES_TO_LABEL} AND t.sample_id > %(low)s AND t.sample_id <= %(high)s)"
WITHIN = "e.sample_id > %(low)s AND e.sample_id <= %(high)s"
VOTED = """
    (SELECT v.votes FROM annotate_verdict v WHERE v.id = e.id)
        @> jsonb_build_array(jsonb_build_object('rater', %(annotator)s::text))
"""
# Tasks are looked up for a unit in an index (OFFSET 0), where PostgreSQL would expect few units and compare each with
# all open tasks; and only of samples and batches that have any.
_RETURNED = f"""
    (e.sample_id IN (SELECT t.sample_id FROM annotate_task t
                      WHERE t.status IN {OPEN_TASK_STATUSES_SQL} AND NOT (t.return_message = ''))
     AND EXISTS (SELECT FROM annotate_task t JOIN annotate_label l ON l.task_id = t.id
                   JOIN annotate_batch b ON b.id = t.batch_id AND b.status = ANY(%(running)s)
                  WHERE t.sample_id = e.sample_id AND t.status IN {OPEN_TASK_STATUSES_SQL}
                    AND NOT (t.return_message = '') AND l.unit = e.unit AND l.criterion_id = e.criterion_id
                 OFFSET 0))
"""
_AT_WORK = """
    (e.state = 'disputed'
     AND e.batch_id = ANY(ARRAY(SELECT id FROM annotate_batch
                                 WHERE project_id = %(project)s AND status = ANY(%(running)s)))
     AND EXISTS (SELECT FROM annotate_task t
                  WHERE t.batch_id = e.batch_id AND t.sample_id = e.sample_id AND t.status = ANY(%(open)s)
                    AND t.purpose = 'label' OFFSET 0))
"""
_SHORT = """
    ((SELECT jsonb_array_length(v.votes) FROM annotate_verdict v WHERE v.id = e.id) <
     (SELECT coalesce(b.settle_votes, s.overlap)
        FROM annotate_batchsample s JOIN annotate_batch b ON b.id = s.batch_id
       WHERE s.batch_id = e.batch_id AND s.sample_id = e.sample_id))
"""
_NOBODY_AT_IT = f"{_AT_WORK} IS NOT TRUE AND NOT {_RETURNED}"
# Of a unit, what an index that leads to them in the order of samples tells; of what votes settled there is none.
OF_INDEX = {
    "": "NOT (e.state = 'settled')",
    "disputed": "NOT (e.state = 'settled') AND e.state = 'disputed'",
    "short": "NOT (e.state = 'settled') AND e.state = 'disputed'",
    "reopened": "NOT (e.state = 'settled') AND e.state = 'reopened'",
    AGREED: "true",
    SINGLE: f"{_IS_UNCHECKED} AND jsonb_array_length(e.votes) < 2",
}
# And what has to be looked up.
LOOKED_UP = {
    "": _NOBODY_AT_IT,
    "disputed": f"e.state = 'disputed' AND {_SHORT} IS NOT TRUE AND {_NOBODY_AT_IT}",
    "short": f"e.state = 'disputed' AND {_SHORT} AND {_NOBODY_AT_IT}",
    "reopened": f"e.state = 'reopened' AND NOT {_RETURNED}",
    RETURNED: _RETURNED,
}
# The sample with which a stretch ends that follows the one at `start`: the last of so many units that may be listed,
# found criterion by criterion as the index has them.
_END_OF_UNITS = """
    SELECT w.sample_id
      FROM annotate_criterion c
     CROSS JOIN LATERAL (
           SELECT e.sample_id FROM annotate_verdict e
            WHERE e.criterion_id = c.id AND {condition} AND {of_batch} AND e.sample_id {sign} %(start)s
            ORDER BY e.sample_id {order} LIMIT %(size)s) AS w
     WHERE c.project_id = %(project)s AND {criterion}
     ORDER BY w.sample_id {order} OFFSET %(size)s - 1 LIMIT 1
"""
_END_OF_SAMPLES = """
    SELECT id FROM annotate_sample WHERE project_id = %(project)s AND id {sign} %(start)s
     ORDER BY id {order} OFFSET %(size)s - 1 LIMIT 1
"""
_END_OF_BATCH_SAMPLES = """
    SELECT sample_id FROM annotate_batchsample
     WHERE batch_id = (SELECT id FROM annotate_batch WHERE project_id = %(project)s AND number = %(batch)s)
       AND sample_id {sign} %(start)s
     ORDER BY sample_id {order} OFFSET %(size)s - 1 LIMIT 1
"""
# By whether no index leads to the units, and whether they are of one batch.
ENDS = {
    (False, False): _END_OF_UNITS.replace("{of_batch}", "true"),
    (False, True): _END_OF_UNITS.replace("{of_batch}", OF_BATCH),
    (True, False): _END_OF_SAMPLES,
    (True, True): _END_OF_BATCH_SAMPLES,
}
