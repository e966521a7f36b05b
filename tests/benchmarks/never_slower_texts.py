"""The texts of `never_slower`: each is drawn again for each size, so no text has been seen."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from collections.abc import Callable, Sequence

Draw = random.Random
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [
    *("the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "with", "as", "his"),
    *("they", "be", "at", "one", "have", "this", "from", "or", "had", "by", "not", "word", "but"),
    *("what", "some", "we", "can", "out", "other", "were", "all", "there", "when", "up", "use"),
]
KHMER = "".join(map(chr, range(0x1780, 0x17A3))) + "".join(map(chr, range(0x17B6, 0x17C9)))
THAI = "".join(map(chr, range(0xE01, 0xE2F)))
EMOJI = ["😀", "👍🏽", "👩\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "🏳\ufe0f\u200d🌈", "1\ufe0f\u20e3"]


def _words(draw: Draw, size: int, space: str = " ", made: bool = False) -> str:
    if made:
        count = size // 7 + 1
        words = ("".join(draw.choices(LETTERS, k=draw.randrange(2, 12))) for _ in range(count))
        return space.join(words)
    return space.join(draw.choices(WORDS, k=size // 4 + 1))


def _chars(low: int, high: int) -> Callable[[Draw, int], str]:
    return lambda draw, size: "".join(chr(draw.randrange(low, high)) for _ in range(size))


def _of(atoms: Sequence[str], space: str = "") -> Callable[[Draw, int], str]:
    return lambda draw, size: space.join(draw.choices(atoms, k=size))


def _hangul_nfd(draw: Draw, size: int) -> str:
    return "".join(
        chr(0x1100 + draw.randrange(19)) + chr(0x1161 + draw.randrange(21))
        for _ in range(size // 2)
    )


def _hashes(draw: Draw, size: int) -> str:
    count = size // 65 + 1
    return " ".join(hashlib.sha256(draw.randbytes(8)).hexdigest() for _ in range(count))


def _json(draw: Draw, size: int) -> str:
    rows = (
        f'{{"id":{draw.randrange(10**6)},"name":"{draw.choice(WORDS)}","x":[{draw.random():.4f}]}}'
        for _ in range(size // 40 + 1)
    )
    return ",".join(rows)


def _script(draw: Draw, size: int) -> str:
    one = "function {0}({1},{2}){{return {1}.map(({2})=>{2}*{3}+{0}[{1}])}};var {0}={1}||{2};"
    names = [a + b for a in LETTERS for b in LETTERS]
    rows = (
        one.format(*draw.choices(names, k=3), draw.randrange(99)) for _ in range(size // 60 + 1)
    )
    return "".join(rows)


def _table(draw: Draw, size: int) -> str:
    cell = '<td class="num">{}</td><td><a href="/w/{}">{}</a></td>'
    cells = (
        cell.format(draw.randrange(10**5), draw.choice(WORDS), draw.choice(WORDS))
        for _ in range(size // 55 + 1)
    )
    return "<tr>" + "</tr>\n<tr>".join(cells) + "</tr>"


def _log(draw: Draw, size: int) -> str:
    line = "2026-01-{:02} 12:{:02}:07,{:03} INFO [worker-{}] served /api/{} in {} ms\n"
    rows = (
        line.format(
            *(draw.randrange(10, 59) for _ in "abcd"), draw.choice(WORDS), draw.randrange(999)
        )
        for _ in range(size // 70 + 1)
    )
    return "".join(rows)


def _accents(draw: Draw, size: int) -> str:
    return "".join(
        draw.choice("aeiouc ") + draw.choice(["", "", "\u0301", "\u0327"]) for _ in range(size)
    )


TEXTS: dict[str, Callable[[Draw, int], str]] = {
    "English": _words,
    "made words": lambda draw, size: _words(draw, size, made=True),
    "code": lambda draw, size: "\n".join(
        f"    def {draw.choice(WORDS)}_{draw.randrange(99)}(self): return {draw.random():.3f}"
        for _ in range(size // 50 + 1)
    ),
    "JSON": _json,
    "log": _log,
    "HTML table": _table,
    "JavaScript": _script,
    "base64": lambda draw, size: base64.b64encode(draw.randbytes(size)).decode(),
    "hashes": _hashes,
    "digits": _of("0123456789"),
    "DNA": _of("ACGT"),
    "one letter": lambda draw, size: draw.choice(LETTERS) * size,
    "endless word": lambda draw, size: "".join(draw.choices(WORDS, k=size // 3)),
    "spaces": lambda draw, size: " " * size,
    "new lines": lambda draw, size: "\n" * size,
    "CRLF": lambda draw, size: "\r\n".join(_words(draw, 40) for _ in range(size // 40 + 1)),
    "tabs": lambda draw, size: _words(draw, size, "\t"),
    "no-break spaces": lambda draw, size: _words(draw, size, "\u00a0"),
    "ideographic spaces": lambda draw, size: _words(draw, size, "\u3000"),
    "control": _chars(1, 32),
    "punctuation": _of("!?.,;:-_/\\|()[]{}<>"),
    "equals": lambda draw, size: "=" * size,
    "Chinese": _chars(0x4E00, 0x6000),
    "rare Chinese": _chars(0x20000, 0x2A000),
    "Japanese": _of(
        [*map(chr, range(0x3041, 0x3097)), *map(chr, range(0x4E00, 0x4F00)), "、", "。"]
    ),
    "Korean": _chars(0xAC00, 0xD7A0),
    "Korean NFD": _hangul_nfd,
    "Thai": lambda draw, size: "".join(
        draw.choice(THAI) + draw.choice(["", "\u0e34", "\u0e48", "\u0e38\u0e49"])
        for _ in range(size // 2)
    ),
    "Khmer": _of(KHMER),
    "Hindi": _of([*map(chr, range(0x905, 0x93A)), "\u093e", "\u094d", "\u093f", " "]),
    "Arabic": _of([*map(chr, range(0x621, 0x64B)), "\u064f", " "]),
    "Hebrew": _of([*map(chr, range(0x5D0, 0x5EB)), "\u05b8", " "]),
    "Russian": _of([*map(chr, range(0x430, 0x450)), " "]),
    "Vietnamese": _of([*"aeiouđơưăâêô ", "ế", "ộ", "ữ", "ả", "ng", "th"]),
    "accents": _accents,
    "emoji": _of(EMOJI),
    "scripts": _of([*"aж中あ한ا1 ", "\n"]),
    "private use": _chars(0xE000, 0xF000),
    "added tokens": _of(["\0added", "\0added", " word", "\n"]),
    "half added tokens": _of(["\0half", "\0half", "<", "x"]),
}


def text_of(name: str, size: int, contents: Sequence[str], seed: str = "") -> str:
    """Returns one text of `size` code points. `contents`: the added tokens of the tokenizer."""
    draw = random.Random(f"{name} {size} {seed}")
    some = contents[:500] or ["<|end|>"]

    def content(match: re.Match[str]) -> str:
        found = draw.choice(some)
        return found if match[1] == "added" else found[: len(found) // 2]

    return re.sub("\0(added|half)", content, TEXTS[name](draw, size))[:size]
