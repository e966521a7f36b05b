"""The texts of `tests.benchmarks.engines`: read from files, or drawn from words with a seed."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.benchmarks.texts import documents, in_base64, long_text

KINDS = (
    *("English", "Python code", "JSON lines", "access logs", "HTML", "Chinese"),
    *("random words", "base64", "documents"),
)
DOCUMENT = 2_000
"""Code points."""
AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/119.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "curl/8.4.0",
)
TAGS = (
    '<div class="row item-{small}"><a href="/p/{large}">{words}</a></div>',
    '<p id="p{small}" data-x="{large}">{words}</p>',
    '<li><span class="label l{small}" style="width:{large}px">{words}</span></li>',
    '<td align="left" colspan="{small}" height="{large}">{words}</td>',
)


@dataclass(frozen=True)
class Sources:
    """What all texts are made of, and how many bytes each kind should have."""

    english: str
    chinese: str
    code: str
    size: int

    def texts(self, kinds: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """The texts of each kind, one but for "documents", which one batch call encodes; shorter
        than `size` where the file is shorter."""
        words = self.english[:300_000].split()
        made: dict[str, Callable[[], str]] = {
            "English": lambda: self.english,
            "Python code": lambda: self.code,
            "JSON lines": lambda: lines(json_record, words, self.size),
            "access logs": lambda: lines(log_line, words, self.size),
            "HTML": lambda: lines(html_line, words, self.size),
            "Chinese": lambda: self.chinese,
            "random words": lambda: lines(random_word, words, self.size, " "),
            "base64": lambda: "\n".join(documents(in_base64(self.size), 76)),
        }
        for kind in kinds:
            if kind in made:
                yield kind, [cut(made[kind](), self.size)]
            else:
                yield kind, documents(long_text([self.english], self.size * 4), DOCUMENT)


def cut(text: str, size: int) -> str:
    """The text's first `size` bytes of UTF-8, or a little less: no character is cut."""
    return text.encode()[:size].decode("utf-8", "ignore")


def lines(
    line: Callable[[random.Random, Sequence[str]], str],
    words: Sequence[str],
    size: int,
    end: str = "\n",
) -> str:
    """Drawn lines, at least `size` bytes; always the same for the same words."""
    draw = random.Random(0)
    found, length = [], 0
    while length < size:
        found.append(line(draw, words))
        length += len(found[-1]) + 1
    return end.join(found)


def random_word(draw: random.Random, words: Sequence[str]) -> str:
    """2 to 11 drawn letters: hardly any is a token."""
    return "".join(draw.choices(string.ascii_lowercase, k=draw.randrange(2, 12)))


def json_record(draw: random.Random, words: Sequence[str]) -> str:
    """An object with nested values and a sentence."""
    record = {
        "id": draw.randrange(10**9),
        "user": {
            "name": " ".join(draw.choices(words, k=2)),
            "age": draw.randrange(90),
            "tags": draw.choices(words, k=draw.randrange(5)),
        },
        "text": " ".join(draw.choices(words, k=draw.randrange(3, 30))),
        "score": draw.random(),
        "ok": draw.random() < 0.5,
        "at": f"2026-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}T{_clock(draw)}Z",
    }
    return json.dumps(record)


def log_line(draw: random.Random, words: Sequence[str]) -> str:
    """A request as web servers log it. The paths are 400, the numbers in them are new."""
    address = ".".join(str(draw.randrange(256)) for _ in range(4))
    chosen = random.Random(draw.randrange(400))
    names = chosen.choices(words, k=chosen.randrange(1, 4))
    path = "/" + "/".join(name.strip(".,;:'\"").lower() for name in names)
    return (
        f"{address} - - [{draw.randrange(1, 29):02}/Nov/2026:{_clock(draw)} +0000] "
        f'"{draw.choice(("GET", "POST"))} {path}?id={draw.randrange(10**6)} HTTP/1.1" '
        f"{draw.choice((200, 200, 200, 304, 404, 500))} {draw.randrange(10**5)} "
        f'"-" "{draw.choice(AGENTS)}"'
    )


def html_line(draw: random.Random, words: Sequence[str]) -> str:
    """An indented element with attributes and some words."""
    sentence = " ".join(draw.choices(words, k=draw.randrange(2, 25)))
    tag = draw.choice(TAGS)
    element = tag.format(small=draw.randrange(100), large=draw.randrange(10_000), words=sentence)
    return "  " * draw.randrange(6) + element


def _clock(draw: random.Random) -> str:
    return ":".join(f"{draw.randrange(limit):02}" for limit in (24, 60, 60))
