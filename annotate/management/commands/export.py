import io
import json
import os
import shutil
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError, CommandParser

from annotate.core.errors import Refusal
from annotate.files.export_rows import CHOICES, CORRECTED, SAMPLES, TEXTS
from annotate.files.export_writers import WRITERS
from annotate.files.releases import make_release, open_release
from annotate.management.base import OneLineCommand
from annotate.projects.read import project_named


class Command(OneLineCommand):
    help = "Create a numbered release of ground truth and write it with its manifest."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project")
        parser.add_argument("--format", choices=list(WRITERS), required=True)
        parser.add_argument("--out", type=Path, required=True)
        parser.add_argument("--criterion", action="append", metavar="KEY", help="only this criterion; may be repeated")
        parser.add_argument("--batch", type=int, help="only this batch")
        parser.add_argument("--include-disputed", action="store_true", help="also unresolved units, without a value")

        instead = parser.add_mutually_exclusive_group()
        instead.add_argument("--samples", action="store_true", help="samples as imported, instead of verdicts")
        instead.add_argument("--texts", action="store_true", help="free text, one row per label, instead of verdicts")
        parser.add_argument(
            "--annotators",
            choices=CHOICES,
            help="one column per annotator: named, or anonymised (numbered)",
        )
        parser.add_argument(
            "--reference",
            choices=[CORRECTED],
            help="with --samples: corrected answers in place of the reference",
        )

    def handle(self, *args: Any, slug: str, out: Path, **options: Any) -> None:
        filters = {
            "criteria": options["criterion"],
            "batch": options["batch"],
            "include_disputed": options["include_disputed"],
            "annotators": options["annotators"],
            "reference": options["reference"],
            "rows": SAMPLES if options["samples"] else TEXTS if options["texts"] else None,
        }
        try:
            project = project_named(slug)
            # Before anything is numbered.
            _check_writable(out)
            manifest_path = out.with_name(out.name + ".manifest.json")
            _check_writable(manifest_path)
            release = make_release(project=project, user=None, file_format=options["format"], filters=filters)
            manifest = json.dumps(release.manifest, ensure_ascii=False, indent=2) + "\n"
            with open_release(release) as file:
                _write_whole(out, file)
            _write_whole(manifest_path, io.BytesIO(manifest.encode()))
        except Refusal as error:
            hint = " `manage.py settle` makes verdicts of imported labels." if error.code == "nothing_to_export" else ""
            raise CommandError(error.message + hint) from None
        except OSError as error:
            raise CommandError(f"Cannot write {out}: {error.strerror}.") from None
        self.stdout.write(
            f"{out}: release {release.number}, {release.manifest['rows']} rows, sha256 {release.manifest['sha256']}"
        )


def _write_whole(path: Path, content: IO[bytes]) -> None:
    """Under its own name it is there once it is whole, unless that is a pipe or a device."""
    if path.is_file():
        path = path.resolve()  # a link stays, also where it is that of a device
    partial = path if path.exists() and not path.is_file() else path.with_name(f"{path.name}.partial")
    try:
        with partial.open("wb") as copy:
            shutil.copyfileobj(content, copy)
        partial.replace(path)
    except OSError:
        if partial != path:
            partial.unlink(missing_ok=True)
        raise


def _check_writable(path: Path) -> None:
    if path.is_dir():
        raise CommandError(f"Cannot write {path}: it is a folder. Give a file name.")
    if not path.parent.is_dir():
        raise CommandError(f"Cannot write {path}: folder {path.parent} not found.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"Cannot write {path}: permission denied.")
