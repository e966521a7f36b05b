"""Asks Hugging Face's engine for its classes of characters and writes ``tokpar/data/classes.json``.

Run it under Python 3.11 (Unicode 14), with `tokenizers` installed:
`python -m tests.recipes.generate_classes`; see `tokpar.formats.char_classes`. With `tokenizers`
1.x it asks for "punctuation_one" only, and leaves the other classes; below 1.0 it leaves that one.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[2] / "tokpar" / "data" / "classes.json"
CHARACTERS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]

_CASED_SINCE_14 = {0x2C2F, 0xA7C0, 0xA7D0, 0xA7D6, 0xA7D8, *range(0x10570, 0x10596)}
"""Capital letters that Python 3.10 does not know."""


def generated() -> dict[str, Any]:
    """The content of ``classes.json``."""
    from tokenizers import normalizers, pre_tokenizers

    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False}
    bert = {
        key: normalizers.BertNormalizer(**{**off, key: True}, lowercase=False).normalize_str
        for key in off
    }
    strip = normalizers.StripAccents().normalize_str
    found = {
        "white": [c for c in CHARACTERS if not normalizers.Strip().normalize_str(c)],
        "removed": [c for c in CHARACTERS if not bert["clean_text"](c)],
        "chinese": [c for c in CHARACTERS if bert["handle_chinese_chars"](c) != c],
        "nonspacing": [c for c in CHARACTERS if not bert["strip_accents"](c)],
        "mark": [c for c in CHARACTERS if not strip(c)],
        "punctuation": _alone(pre_tokenizers.Punctuation(), "a"),
        "number": _alone(pre_tokenizers.Digits(), "a"),
        "word": _joined(pre_tokenizers.Whitespace()),
        "inert": [c for c in CHARACTERS if _inert(c, normalizers)],
    }
    classes: dict[str, Any] = {name: ranges(characters) for name, characters in found.items()}
    classes["lower"] = _lower(normalizers.Lowercase().normalize_str)
    return classes


def punctuation_of_one() -> list[str]:
    """What `tokenizers` 1.x, which has no pre-tokenizers to ask, cuts off from letters."""
    from tokenizers import Tokenizer

    vocabulary = {"[UNK]": 0, "a": 1, "b": 2}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    config: dict[str, Any] = {
        "version": "1.0",
        **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder")),
        "added_tokens": [],
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": model,
    }
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "tokenizer.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        own = Tokenizer.from_file(str(file))
    found = own.encode_batch([f"a{c}b" for c in CHARACTERS])
    return [c for c, ids in zip(CHARACTERS, found, strict=True) if list(ids.ids) == [1, 0, 2]]


def ranges(characters: Iterable[str]) -> str:
    """Hexadecimal code points and inclusive ranges of them: "abcx" -> "61-63 78"."""
    found: list[list[int]] = []
    for point in sorted(map(ord, characters)):
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return " ".join(f"{low:x}" if low == high else f"{low:x}-{high:x}" for low, high in found)


def _alone(pre_tokenizer: Any, other: str) -> list[str]:
    """Characters that are cut off from `other`."""
    split = pre_tokenizer.pre_tokenize_str
    return [c for c in CHARACTERS if c != other and len(split(f"{other}{c}{other}")) == 3]


def _joined(pre_tokenizer: Any) -> list[str]:
    """Characters that are not cut off from a letter."""
    split = pre_tokenizer.pre_tokenize_str
    return [c for c in CHARACTERS if len(split(f"a{c}a")) == 1]


def _inert(char: str, normalizers: Any) -> bool:
    """Unassigned for Python, or ignored by the engine but not by Python."""
    if unicodedata.category(char) == "Cn":
        return True
    if unicodedata.normalize("NFKD", char) == char and not unicodedata.combining(char):
        return _starts_an_ignored_pair(char)
    nfd, nfkd = normalizers.NFD().normalize_str, normalizers.NFKD().normalize_str
    probes = (f"\u0301{char}", f"{char}\u0334")
    return bool(nfkd(char) == char) and all(nfd(probe) == probe for probe in probes)


def _starts_an_ignored_pair(char: str) -> bool:
    return char == "\U00011935"  # with U+11930 it makes U+11938, since Unicode 13


def _lower(lowercase: Any) -> dict[str, str]:
    return {
        f"{ord(c):x}": f"{ord(lowercase(c)):x}"
        for c in CHARACTERS
        if lowercase(c) != c and (c.lower() == c or ord(c) in _CASED_SINCE_14)
    }


def main() -> None:
    import tokenizers

    found = json.loads(TARGET.read_text(encoding="utf-8"))
    if hasattr(tokenizers, "pre_tokenizers"):
        found |= generated()
    else:
        found["punctuation_one"] = ranges(punctuation_of_one())
    TARGET.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
