"""Whether two results say the same."""

from collections.abc import Iterator
from typing import Any

# Other builds of the same numerical libraries may round the last digits another way.
TOLERANCE = 1e-9


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Each figure that is not the same in both plain JSON values, as a line `path: this and that`.

    Numbers are the same when they differ by at most 1e-9 of the greater; everything else when it is equal.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from differences(one.get(key), other.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{path}[{place}]")
    elif _is_number(one) and _is_number(other):
        if abs(one - other) > TOLERANCE * max(1.0, abs(one), abs(other)):
            yield f"{path}: {one!r} and {other!r}"
    elif one != other or isinstance(one, bool) is not isinstance(other, bool):
        yield f"{path}: {one!r} and {other!r}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
