from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import samples: either all rows, or none."
    kind = "samples"
