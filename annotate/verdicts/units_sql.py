"""What the list of units (annotate.verdicts.units_read) asks of verdicts, labels and tasks, as text of its statements.

`ahead` are the samples that the reader still has to label, `r` is a row of the list.
"""

from __future__ import annotations

from annotate.core.counting import GIVEN, IS_LATEST
from annotate.core.units import no_abstention
from annotate.labels.read import ANSWERED

# The latest verdict of each unit on the asked criteria. `at`: the criterion's place among them, from 1.
VERDICTS = f"""
    SELECT v.id, v.sample_id, v.unit, v.agreement, v.updated_at, {{at}} AS at
      FROM annotate_verdict v JOIN annotate_criterion c ON c.id = v.criterion_id
     WHERE v.criterion_id = ANY(%(versions)s) AND {IS_LATEST.format(verdict="v")} AND {no_abstention("v")}
       AND NOT EXISTS (SELECT FROM ahead WHERE ahead.sample_id = v.sample_id) {{conditions}}
"""
_ANSWERS = f"""
    (SELECT l.* FROM annotate_label l LEFT JOIN annotate_task t ON t.id = l.task_id WHERE {ANSWERED} AND {GIVEN})
"""
IS_TO_LABEL = "EXISTS (SELECT FROM ahead WHERE ahead.sample_id = r.sample_id)"
# Of a row `r` without a verdict: whether it is in progress.
IN_PROGRESS = f"""
    ({IS_TO_LABEL}
     OR EXISTS (SELECT FROM {_ANSWERS} AS said
                 WHERE said.criterion_id = (%(current)s::bigint[])[r.at] AND said.sample_id = r.sample_id
                   AND said.unit = r.unit)
     OR EXISTS (SELECT FROM annotate_task t JOIN annotate_batch b ON b.id = t.batch_id
                  JOIN annotate_batchcriterion bc ON bc.batch_id = b.id
                  JOIN annotate_criterion c ON c.id = bc.criterion_id
                 WHERE t.sample_id = r.sample_id AND c.key = (%(keys)s::text[])[r.at] AND t.purpose = 'label'
                   AND t.status = ANY(%(open)s) AND b.status = ANY(%(running)s)))
"""
# Whether it has a label of an older version of the guidelines, whose rater gave none since under the newest.
OUTDATED = f"""
    EXISTS (SELECT FROM {_ANSWERS} AS older JOIN annotate_criterion c ON c.id = older.criterion_id
             WHERE older.criterion_id = ANY(%(versions)s) AND c.key = (%(keys)s::text[])[r.at]
               AND older.sample_id = r.sample_id AND older.unit = r.unit AND older.guideline_version < %(newest)s
               AND older.sample_id > %(low)s AND older.sample_id <= %(high)s
               AND NOT EXISTS (SELECT FROM {_ANSWERS} AS again
                                WHERE again.criterion_id = older.criterion_id AND again.sample_id = older.sample_id
                                  AND again.unit = older.unit AND again.rater_id = older.rater_id
                                  AND again.guideline_version = %(newest)s))
"""
# Whether it is among the units of these rows.
AMONG = """
    (SELECT FROM ({rows}) AS named (sample_id, unit, key)
      WHERE named.sample_id = r.sample_id AND named.unit = r.unit AND named.key = (%(keys)s::text[])[r.at])
"""
NAMED = "SELECT * FROM unnest(%(among_samples)s::bigint[], %(among_units)s::text[], %(among_keys)s::text[])"
