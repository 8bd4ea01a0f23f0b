from tests.systems.conftest import _media, _world, world, write  # noqa: F401 - the same fixtures here
