"""Options that several parts take, checked in one place; and how many workers there are."""

import os

from tokpar.arrays import plain_text
from tokpar.errors import OptionError

ACCEPTANCES = ("certified", "paper")
ON_FAILURE = ("repair", "restart")
CACHE_BYTES = 64 << 20
"""The most bytes that a cache uses, without the table that is being grown."""
LEAST_CACHE_BYTES = 1 << 16


def require_text(text: object, label: str = "") -> str:
    """Returns `text`, as a plain str (`plain_text`). Raises OptionError for what is no str."""
    if not isinstance(text, str):
        kind = type(text).__name__
        said = f"{label} must be a str, got {kind}"
        raise OptionError(said if label else f"text must be a str, got {kind}")
    return plain_text(text)


def require_count(name: str, value: object, least: int = 1) -> None:
    """Raises OptionError unless `value` is an int of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name} must be an int of at least {least}, got {value!r}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises OptionError unless `value` is one of `choices`."""
    if value not in choices:
        raise OptionError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def require_cache_bytes(cache_bytes: int) -> int:
    """Returns `cache_bytes`: a budget that a cache can keep, or 0 for none. Else OptionError."""
    whole = isinstance(cache_bytes, int) and not isinstance(cache_bytes, bool)
    if not whole or (cache_bytes != 0 and cache_bytes < LEAST_CACHE_BYTES):
        least = f"0, or {LEAST_CACHE_BYTES:,} or more"
        raise OptionError(f"cache_bytes must be {least}, got {cache_bytes!r}")
    return cache_bytes


def require_sizes(chunk_chars: object, overlap_chars: object = None) -> None:
    """OptionError unless each is an int of at least 1, or None for a size that is fitted."""
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


# What Hugging Face tokenizers reads as "no" in TOKENIZERS_PARALLELISM.
_OFF = {"", "off", "false", "f", "no", "n", "0"}


def worker_count(workers: int | None) -> int:
    """`workers` if given, else how many cores this process may use (`tokpar.cores`); 1 if
    TOKENIZERS_PARALLELISM says no. Raises OptionError unless it is an int of at least 1."""
    if workers is None:
        from tokpar.cores import cpu_count  # importing tokpar does without it

        return 1 if os.environ.get("TOKENIZERS_PARALLELISM", "yes").lower() in _OFF else cpu_count()
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise OptionError(f"workers must be an int of at least 1 or None, got {workers!r}")
    if workers < 1:
        raise OptionError(f"workers must be at least 1, got {workers}")
    return workers
