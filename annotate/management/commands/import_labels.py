from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import labels from a file: either all rows, or none."
    kind = "labels"
