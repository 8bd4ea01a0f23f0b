"""requirements-exports.txt is installed as it stands, so it has to name all that its packages ask for."""

from tests.judges.requirements import named_in, needed_by

# Of DeepEval, for its own command that runs tests.
_PLUGINS = {"pytest-asyncio", "pytest-repeat", "pytest-rerunfailures", "wheel"}


def test_it_names_all_that_is_needed_and_nothing_else() -> None:
    named = named_in("requirements-exports.txt")
    known = named | named_in("requirements-ragas.txt", "requirements-server.txt", "requirements-dev.txt")
    needed = needed_by("deepeval", "mlflow-skinny")
    assert needed - known - {"setuptools"} == _PLUGINS
    assert named - needed == set()
