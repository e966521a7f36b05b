"""Classes of characters as Hugging Face's engine has them, frozen in ``classes.json``.

Python's `unicodedata` and the `regex` module follow other versions of Unicode than the engine, and
the engine itself follows several: its punctuation and accents are of Unicode 8 or so, its
normalization forms of Unicode 9, its lowercase letters of Unicode 17 (`tokenizers` 0.23). So no
class is asked of Python where the engine answers otherwise; ``python -m
tests.recipes.generate_classes`` asks the engine about all code points and writes the file.

white      the property White_Space: what is stripped, and separates words
removed    what BertNormalizer(clean_text) takes out
chinese    what BertNormalizer(handle_chinese_chars) puts spaces around
nonspacing what BertNormalizer(strip_accents) takes out
mark       what StripAccents takes out
punctuation, number, word   what Punctuation, Digits and Whitespace (``\\w``) look for
punctuation_one   what Punctuation looks for in `tokenizers` 1.0, of a newer Unicode
inert      characters that normalization forms leave as they are and never join or reorder, whatever
           Python's tables say, because the engine's know nothing of them
lower      letters of recent Unicode versions, each with its lowercase"""

import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=32)
def one_of(name: str) -> str:
    """A class as a regex: "white" -> "[\\\\U00000009-\\\\U0000000d\\\\U00000020...]"."""
    parts = (part.split("-") for part in _table()[name].split())
    return "[" + "".join("-".join(f"\\U{end:>08}" for end in ends) for ends in parts) + "]"


def none_of(*names: str) -> str:
    """A regex of the longest runs of characters that are in none of the classes."""
    return "[^" + "".join(one_of(name)[1:-1] for name in names) + "]+"


@lru_cache(maxsize=32)
def runs(name: str) -> re.Pattern[str]:
    """Matches the longest runs of characters of a class."""
    return re.compile(one_of(name) + "+")


@lru_cache(maxsize=32)
def single(name: str) -> re.Pattern[str]:
    """Matches each character of a class by itself."""
    return re.compile(one_of(name))


def present(name: str, text: str) -> list[str]:
    """The different characters of a class that occur in `text`, in any order. Each is asked about
    once, since the regexes try range after range."""
    found: list[str] = single(name).findall("".join(set(text)))
    return found


@lru_cache(maxsize=1)
def recent_lowercase() -> dict[int, str]:
    """Lowercase of the letters "lower", for `str.translate`."""
    pairs: dict[str, str] = _table()["lower"]
    return {int(upper, 16): chr(int(lower, 16)) for upper, lower in pairs.items()}


@lru_cache(maxsize=1)
def white() -> str:
    """The characters of the class "white", for `str.strip`."""
    return "".join(map(chr, (c for c in range(0x3001) if single("white").match(chr(c)))))


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads((files("tokpar.pure") / "classes.json").read_bytes())
    return table
