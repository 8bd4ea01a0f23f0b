from annotate.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Imports samples; all of the file or nothing."
    kind = "samples"
