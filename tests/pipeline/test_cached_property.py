"""A cached property computes once, keeps one value, and never waits for another thread."""

from __future__ import annotations

import pickle
import threading
from dataclasses import dataclass
from itertools import count

from tokpar.process.cached_property import cached_property

NUMBERS = count()


@dataclass(frozen=True)
class Counted:
    """A value that says how often it was computed."""

    size: int

    @cached_property
    def number(self) -> tuple[int, int]:
        """The size, and a number that no other computation has."""
        return self.size, next(NUMBERS)


class Slow:
    """Computes `value` when `free` is set."""

    def __init__(self, *, is_free: bool) -> None:
        self.begun, self.free, self.numbers = threading.Event(), threading.Event(), count()
        if is_free:
            self.free.set()

    @cached_property
    def value(self) -> list[int]:
        found = [next(self.numbers)]
        self.begun.set()
        assert self.free.wait(60)
        return found


def test_a_value_is_computed_once_for_each_object_and_pickled_with_it() -> None:
    one, two = Counted(1), Counted(2)
    assert one.number is one.number
    assert one.number[1] != two.number[1]
    assert pickle.loads(pickle.dumps(one)).number == one.number
    assert one == Counted(1)


def test_the_class_shows_the_property_with_its_documentation() -> None:
    found = Counted.__dict__["number"]
    assert Counted.number is found
    assert found.__doc__ == "The size, and a number that no other computation has."


def test_no_object_waits_for_the_value_of_another() -> None:
    waiting = Slow(is_free=False)
    thread = threading.Thread(target=lambda: waiting.value)
    thread.start()
    assert waiting.begun.wait(60)
    assert Slow(is_free=True).value == [0]
    waiting.free.set()
    thread.join(60)


def test_threads_that_compute_at_the_same_time_get_one_value() -> None:
    slow, found = Slow(is_free=False), list[list[int]]()
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert slow.begun.wait(60)
        slow.begun.clear()
    slow.free.set()
    for thread in threads:
        thread.join(60)
    assert len(found) == 2
    assert found[0] is found[1] is slow.value
    assert next(slow.numbers) == 2  # both computed


class Doubled(Counted):
    """A subclass whose property asks that of its base."""

    @cached_property
    def number(self) -> tuple[int, int]:
        size, number = super().number
        return 2 * size, number


def test_a_property_that_asks_that_of_its_base_keeps_its_own_value() -> None:
    one = Doubled(3)
    first = one.number
    assert first[0] == 6
    assert one.number is first
