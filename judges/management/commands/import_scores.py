from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import judge scores, one per row or one column per metric: either all rows, or none."
    kind = "scores"
