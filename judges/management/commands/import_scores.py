from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Imports judge scores, one per row or one column per metric; all of the file or nothing."
    kind = "scores"
