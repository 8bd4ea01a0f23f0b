from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Imports labels made elsewhere; all of the file or nothing."
    kind = "labels"
