"""Options that several strategies take, checked in one place."""

from __future__ import annotations

from tokpar.errors import OptionError

ACCEPTANCES = ("certified", "paper")
ON_FAILURE = ("repair", "restart")


def require_count(name: str, value: object, least: int = 1) -> None:
    """Raises OptionError unless `value` is an int of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name} must be an int of at least {least}, got {value!r}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises OptionError unless `value` is one of `choices`."""
    if value not in choices:
        raise OptionError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def require_sizes(chunk_chars: object, overlap_chars: object = None) -> None:
    """Raises OptionError unless each is an int of at least 1, or None, which stands for a size that
    is fitted to tokenizer and text."""
    for name, value in (("chunk_chars", chunk_chars), ("overlap_chars", overlap_chars)):
        if value is not None:
            require_count(name, value)


def require_min_match(value: object, least: int = 1) -> None:
    """Raises OptionError unless `value` is an int of at least `least`, or "longest"."""
    if value == "longest":
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(
            f'min_match must be an int of at least {least} or "longest", got {value!r}'
        )
