import resource
from collections.abc import Callable

from config.room import roomy


def leaf() -> None:
    """What an inner loop calls."""


def _deep(functions: int, run: Callable[[], int]) -> int:
    return run() if functions == 0 else _deep(functions - 1, run)


def _faults_of_a_loop() -> int:
    """A mapped page that is used for the first time is a fault: of each chunk that a call is given there is one."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(2000):
        leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_no_call_of_a_loop_is_at_the_end_of_a_chunk() -> None:
    # However many functions lie above: plainly, one of these depths is just before a chunk's end.
    depths = range(250)
    assert max(_deep(depth, _faults_of_a_loop) for depth in depths) >= 2000
    assert max(_deep(depth, roomy(_faults_of_a_loop)) for depth in depths) < 200


def test_is_the_function() -> None:
    assert roomy(divmod)(7, 2) == (3, 1)
