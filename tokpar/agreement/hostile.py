"""Short texts that tokenizers stumble over, as plain strings: always the same, and no package is
needed for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

_PLAIN = (
    *("", "a", " ", "\n", "0", "é", "中", "😀", "\0", "\u0301", "Hello, world!"),
    "The quick brown fox jumps over the lazy dog, 1234567 times.",
)
_SPACES = (
    *("  a  b ", " a", "a ", "\n\n\na", " \n \n ", "a\r\n\r\nb", "\t\tx", "a \n", "\r", "   \n  x"),
    *("\u3000a\u3000", "a\xa0b", "a\u2028b", "a\u200bb", "\x1ca", "\x85", "x \u2003 y"),
)
_WORDS = (
    *("don't I'll we'VE o'clock's '", "''s's", "camelCaseXMLHttp", "HELLO hello Hello", "x_y-z"),
    *("naïve café e\u0301", "über\u0308", "İstanbul ΑΣ ß ǆ ﬁ", "\u017fa\u212a"),
    *("a\u0301\u0301\u0301b", "русский ελληνικά", "हिन्दी क्ष", "ภาษาไทย กำ", "العربية لا"),
    *("\u202bאב\u202c", "한국어 가\u11a8", "中文亚洲AVx。，", "漢字です。カ\u3099ガ"),
    *("\u9fa5\u9fa6\u3400\U00020000\uf900", "ქართული Ꮳꭳ"),
)
_DIGITS = (
    *("1", "12", "123", "1234", "1234567890", "1,234,567.89", "3.14e-10", "0xDEADbeef"),
    *("a1b22c333", "１２３４", "०१२३", "¹²³⁴½", "ⅠⅡⅧ", "1١2٢", "2026-01-31T23:59:59Z"),
)
_SYMBOLS = (
    *("...", "----====", "a.b,c;d", "(((a)))", "«a»“b”…", "<|endoftext|>", "<s></s>"),
    *("[CLS] [MASK]", "<|end|> x <|endoftext|>y", " <s> ", "a<s>b", "<s", "s>"),
    *("https://example.org/a?b=c#d", "if (a&&b) {\r\n\t\treturn a[i]->b;\r\n}\r\n"),
    *("def f(x):\n    return x\n", "▁a▁b _c", "aGVsbG8gd29ybGQsIHRoaXM="),
    *('{"a": [1, null], "b": "\\u00e9"}', "|a|b|\n|---|:-:|\n", "👩‍👩‍👧👍🏽🇫🇷❤️‍🔥", "🇫🇷🇫"),
    *("1️⃣", "\u200d\ufe0f", "글 🫠中", "\ufffd", "\uffff\ufdd0", "\U0010ffff", "\ue000"),
    *("\xad\u2060", "\x07\x1b[0m\x7f", "\ufeffa"),
)
_RUNS = "a1 \n=é中😀"
_WORDS_AGAIN = ("ab", "abc", " a", "a ", "aab", "中a", "1a", "the ")
_LENGTHS = (3, 8, 33, 129)


@cache
def hostile_texts() -> tuple[str, ...]:
    """The texts, shortest kinds first; all can be written as UTF-8."""
    return tuple(dict.fromkeys((*_PLAIN, *_SPACES, *_WORDS, *_DIGITS, *_SYMBOLS, *_repeated())))


def surrogate_texts() -> tuple[str, ...]:
    """A few that cannot: lone surrogates, in the wrong order, and a pair of two code points."""
    alone = ("\ud800", "\udfff", "a\ud800b", "one two \udc00 three", "\ud83d\ude00", "x\udead y")
    return (*alone, "word " * 8 + "\udbff" + " word" * 8)


def _repeated() -> Iterator[str]:
    for k, character in enumerate(_RUNS):
        yield character * _LENGTHS[k % len(_LENGTHS)]
        yield f"x{character * _LENGTHS[(k + 1) % len(_LENGTHS)]} y"
    for k, word in enumerate(_WORDS_AGAIN):
        yield word * (5 + 4 * k)
    yield "abaababaabaababaababa" * 2
    yield "abbabaabbaababbabaababbaabbabaab"
