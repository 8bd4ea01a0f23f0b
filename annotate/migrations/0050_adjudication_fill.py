"""What the verdicts that are there already know of their votes."""

from django.db import migrations

# The moment of an old decision is that of the verdict's last change, unless a label has reopened it since; then neither
# that moment nor the votes of then are known any more.
_FILL = """
    UPDATE annotate_verdict v SET
           agreement = (SELECT max(n) / sum(n)::float
                          FROM (SELECT count(*) AS n FROM jsonb_array_elements(v.votes) AS vote
                                 GROUP BY vote -> 'value') AS counted),
           decided_votes = CASE WHEN v.method = 'adjudicated' AND v.state = 'settled' THEN v.votes END,
           decided_at = CASE WHEN v.method = 'adjudicated' AND v.state = 'settled' THEN v.updated_at END
"""


class Migration(migrations.Migration):
    dependencies = [("annotate", "0050_adjudication")]

    operations = [migrations.RunSQL(_FILL, migrations.RunSQL.noop)]
