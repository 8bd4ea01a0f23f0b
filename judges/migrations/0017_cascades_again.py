from django.db import migrations


class Migration(migrations.Migration):
    """Looks at two judges are out of date: where the first judge had no answer they let the second decide, and evenly
    split labels that were made elsewhere were in none. They stay, with their figures, and say so."""

    dependencies = [("judges", "0016_instruction_search")]
    operations = [migrations.RunSQL("UPDATE judges_cascadelook SET promise = 0", migrations.RunSQL.noop)]
