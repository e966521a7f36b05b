"""The texts of `tests.benchmarks.kinds`: read from files, or drawn with a fixed seed from words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.benchmarks.texts import documents, in_base64, long_text

KINDS = ("English", "Python code", "JSON lines", "access logs", "HTML", "Chinese", "base64")
CHAT, DOCUMENTS, SHORT, MIXED = (
    "chat with special tokens",
    "documents",
    "short texts",
    "mixed traffic",
)
ROWS = (*KINDS, CHAT, DOCUMENTS, SHORT, MIXED)
DOCUMENT, SHORT_TEXT = 2_000, 500
"""Code points."""
MIXED_DOCUMENT = 20_000
"""Bytes."""
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
class Text:
    """Texts of one kind. `is_batch`: one call encodes all of them; else each has its own call."""

    kind: str
    texts: list[str]
    is_batch: bool = False

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for text in self.texts)

    @property
    def name(self) -> str:
        """For the table: "HTML", or "4,000 documents of 2,000 characters, one batch"."""
        if len(self.texts) == 1:
            return self.kind
        calls = "one batch" if self.is_batch else "one by one"
        return f"{len(self.texts):,} {self.kind} of {len(self.texts[0]):,} characters, {calls}"

    def halves(self) -> tuple[Text, Text]:
        """The first and the second half of the texts, or of the only text."""
        whole = self.texts if len(self.texts) > 1 else self.texts[0]
        middle = len(whole) // 2
        parts = (whole[:middle], whole[middle:])
        first, second = ([part] if isinstance(part, str) else part for part in parts)
        return (
            Text(self.kind, first, self.is_batch),
            Text(self.kind, second, self.is_batch),
        )


@dataclass(frozen=True)
class Sources:
    """What all texts are made of, and how many bytes each kind should have."""

    english: str
    chinese: str
    code: str
    size: int

    def texts(self, kinds: Sequence[str], special: Sequence[str]) -> Iterator[Text]:
        """One text of each kind; shorter than `size` where its file is shorter. There is no chat
        without `special`, the tokenizer's special tokens."""
        words = self.english[:300_000].split()
        drawn = {"JSON lines": json_record, "access logs": log_line, "HTML": html_line}
        whole = {"English": self.english, "Python code": self.code, "Chinese": self.chinese}
        for kind in KINDS:
            if kind not in kinds:
                continue
            if kind == "base64":
                text = "\n".join(documents(in_base64(self.size), 76))
            else:
                text = whole[kind] if kind in whole else lines(drawn[kind], words, self.size)
            yield Text(kind, [cut(text, self.size)])
        if CHAT in kinds and special:
            yield self.chat(special)
        if DOCUMENTS in kinds:
            text = long_text([self.english], self.size * 4)
            yield Text(DOCUMENTS, documents(text, DOCUMENT), is_batch=True)
        if SHORT in kinds:
            yield Text(SHORT, documents(cut(self.english, self.size), SHORT_TEXT))

    def chat(self, special: Sequence[str]) -> Text:
        """500 messages in 300,000 bytes, fewer if `size` is less than 2,000,000. Each begins and
        ends with one of the first four special tokens."""
        draw = random.Random(0)
        parts, start = [], 0
        for number in range(max(2, self.size // 4_000)):
            length = draw.randrange(150, 1_000)
            first, second = (special[(number + k) % min(4, len(special))] for k in (0, 1))
            message = self.english[start : start + length]
            parts.append(f"{first}{('user', 'assistant')[number % 2]}\n\n{message}{second}")
            start += length
        return Text(CHAT, ["".join(parts)])

    def mixed(self) -> list[tuple[str, str]]:
        """Documents of 20 KB, an English one and a Chinese one, as many as there are of both."""
        english, chinese = (
            _byte_documents(cut(text, self.size)) for text in (self.english, self.chinese)
        )
        return list(zip(english, chinese, strict=False))


def cut(text: str, size: int) -> str:
    """The text's first `size` bytes of UTF-8, or a little less: no character is cut."""
    return text.encode()[:size].decode("utf-8", "ignore")


def _byte_documents(text: str) -> list[str]:
    data = text.encode()
    starts = range(0, max(1, len(data) - MIXED_DOCUMENT + 1), MIXED_DOCUMENT)
    return [data[k : k + MIXED_DOCUMENT].decode("utf-8", "ignore") for k in starts]


def lines(
    line: Callable[[random.Random, Sequence[str]], str], words: Sequence[str], size: int
) -> str:
    """Drawn lines, at least `size` bytes; always the same for the same words."""
    draw = random.Random(0)
    found, length = [], 0
    while length < size:
        found.append(line(draw, words))
        length += len(found[-1]) + 1
    return "\n".join(found)


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
