"""What tokenizers in Python ask of the engine's classes (`tokpar.formats.char_classes`)."""

from functools import lru_cache

from tokpar.formats.char_classes import class_table, one_of, single


def none_of(*names: str) -> str:
    """Returns a regex that matches the longest runs of characters outside all of the classes."""
    return "[^" + "".join(one_of(name)[1:-1] for name in names) + "]+"


def present(name: str, text: str) -> list[str]:
    """Returns the distinct characters of a class that occur in `text`, in any order.

    Each distinct character is tested once, because the regexes are slow: they try one range after
    the other."""
    found: list[str] = single(name).findall("".join(set(text)))
    return found


@lru_cache(maxsize=1)
def recent_lowercase() -> dict[int, str]:
    """Returns code point -> lowercase letter of the class "lower", as `str.translate` takes it."""
    pairs: dict[str, str] = class_table()["lower"]
    return {int(upper, 16): chr(int(lower, 16)) for upper, lower in pairs.items()}
