"""Options that several strategies take, checked in one place."""

from __future__ import annotations

from tokpar.errors import OptionError

ACCEPTANCES = ("certified", "paper")


def require_count(name: str, value: object, least: int = 1) -> None:
    """Raises OptionError unless `value` is an int of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name} must be an int of at least {least}, got {value!r}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises OptionError unless `value` is one of `choices`."""
    if value not in choices:
        raise OptionError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
