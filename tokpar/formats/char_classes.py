"""Character classes of Hugging Face's engine, frozen in ``classes.json``.

The engine, Python's `unicodedata` and the `regex` module follow different versions of Unicode. The
engine itself mixes several (`tokenizers` 0.23): about Unicode 8 for punctuation and accents,
Unicode 9 for normalization forms, Unicode 17 for lowercase letters. So this package uses a class of
Python only where the engine agrees with it. ``python -m tests.recipes.generate_classes`` asks the
engine about every code point and writes the file.

white      the property White_Space: characters that are stripped, and that separate words
removed    characters that BertNormalizer(clean_text) removes
chinese    characters that BertNormalizer(handle_chinese_chars) puts spaces around
nonspacing characters that BertNormalizer(strip_accents) removes
mark       characters that StripAccents removes
punctuation, number, word   characters that Punctuation, Digits and Whitespace (``\\w``) match
punctuation_one   characters that Punctuation matches in `tokenizers` 1.0 (a newer Unicode)
inert      characters that the engine's normalization forms never change, compose or reorder,
           because the engine's tables do not know them; Python's tables may change them
lower      letters of recent Unicode versions, each with its lowercase letter"""

import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=32)
def one_of(name: str) -> str:
    """Returns a regex that matches one character of a class:
    "white" -> "[\\\\U00000009-\\\\U0000000d\\\\U00000020...]"."""
    parts = (part.split("-") for part in class_table()[name].split())
    return "[" + "".join("-".join(f"\\U{end:>08}" for end in ends) for ends in parts) + "]"


@lru_cache(maxsize=32)
def runs(name: str) -> re.Pattern[str]:
    """Returns a compiled regex that matches the longest runs of characters of a class."""
    return re.compile(one_of(name) + "+")


@lru_cache(maxsize=32)
def single(name: str) -> re.Pattern[str]:
    """Returns a compiled regex that matches one character of a class."""
    return re.compile(one_of(name))


@lru_cache(maxsize=1)
def class_table() -> dict[str, Any]:
    """Returns the parsed ``classes.json``."""
    table: dict[str, Any] = json.loads((files("tokpar") / "data" / "classes.json").read_bytes())
    return table
