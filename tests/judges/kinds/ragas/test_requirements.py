"""requirements-ragas.txt is installed as it stands, so it has to name all that its packages ask for."""

import subprocess
import sys

from tests.judges.requirements import name_of, named_in, needed_by


def test_it_names_all_that_is_needed_and_nothing_else() -> None:
    named = named_in("requirements-ragas.txt")
    needed = needed_by("ragas")
    assert needed - named - named_in("requirements-server.txt") == set()
    assert named - needed == set()


def test_what_does_not_fit_is_known() -> None:
    """instructor is only imported: the judges send what they send through the application's own client."""
    found = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    ours = named_in("requirements-ragas.txt")
    lines = [
        line for line in found.stdout.splitlines() if " has requirement " in line and name_of(line.split()[0]) in ours
    ]
    unfit = {line.partition(",")[0] for line in lines}
    assert unfit == {
        "instructor 1.17.0 has requirement jiter<0.15",
        "instructor 1.17.0 has requirement rich<15.0.0",
    }
