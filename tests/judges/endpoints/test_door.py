"""How many requests are under way at once, and how they are spread over a minute."""

from __future__ import annotations

import threading

from judges.endpoints.door import Door, door_of, useful_threads
from judges.models import Endpoint


class Clock:
    """Stands still but for those who sleep."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_no_more_at_once_than_there_may_be() -> None:
    door, inside, most, lock = Door(3), 0, 0, threading.Lock()
    full, go = threading.Semaphore(0), threading.Event()

    def work() -> None:
        nonlocal inside, most
        with door.passed():
            with lock:
                inside += 1
                most = max(most, inside)
            full.release()
            assert go.wait(10)
            with lock:
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        assert full.acquire(timeout=10)
    assert (inside, full.acquire(blocking=False)) == (3, False)
    go.set()
    for thread in threads:
        thread.join(10)
    assert (most, inside) == (3, 0)


def test_requests_of_a_minute_are_spread_over_it() -> None:
    clock = Clock()
    door = Door(8, 120, clock=clock, sleep=clock.sleep)
    times = []
    for _ in range(5):
        with door.passed():
            times.append(clock.now - 100.0)
    assert times == [0.0, 0.5, 1.0, 1.5, 2.0]
    clock.now += 60.0
    with door.passed():
        assert clock.slept == [0.5] * 4, "what was not used earlier is not made up for, and nothing waits for it"
    with door.passed():
        assert clock.slept == [0.5] * 5


def test_a_place_is_given_back_when_it_fails() -> None:
    door = Door(1)
    for _ in range(3):
        try:
            with door.passed():
                raise ValueError
        except ValueError:
            pass


def test_one_door_for_an_endpoint_with_its_limits_of_now() -> None:
    endpoint = Endpoint(pk=-1, concurrency=1)
    door = door_of(endpoint)
    entered = threading.Event()

    def second() -> None:
        with door.passed():
            entered.set()

    thread = threading.Thread(target=second)
    with door.passed():
        thread.start()
        assert not entered.is_set()
        assert door_of(Endpoint(pk=-1, concurrency=2)) is door
        assert entered.wait(10)
    thread.join()
    assert door_of(Endpoint(pk=-2, concurrency=1)) is not door


def test_no_more_threads_than_the_minute_can_use() -> None:
    assert useful_threads(Endpoint(concurrency=32)) == 32
    assert useful_threads(Endpoint(concurrency=32, requests_per_minute=6, timeout_seconds=60)) == 6
    assert useful_threads(Endpoint(concurrency=32, requests_per_minute=1, timeout_seconds=5)) == 1
    assert useful_threads(Endpoint(concurrency=4, requests_per_minute=6000)) == 4
