"""Drawn words and texts in the characters of 18 languages: a word is made of letters and marks as
Unicode names them, and texts repeat words of one list."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from functools import cache

LATIN = "abcdefghijklmnopqrstuvwxyz"
FIRST_AND_LAST = {
    "Russian": (0x410, 0x44F),
    "Greek": (0x386, 0x3CE),
    "Hebrew": (0x5B0, 0x5EA),
    "Arabic": (0x620, 0x652),
    "Hindi": (0x901, 0x963),
    "Bengali": (0x980, 0x9E3),
    "Tamil": (0xB82, 0xBCD),
    "Thai": (0xE01, 0xE4E),
    "Georgian": (0x10D0, 0x10FA),
    "Korean": (0xAC00, 0xD7A3),
    "Japanese": (0x3041, 0x30FE),
    "Chinese": (0x4E00, 0x9FA5),
}
"""The first and the last character of the letters and marks of a language."""
WRITTEN = {
    "English": LATIN + "'-",
    "German": LATIN + "äöüßÄÖÜ",
    "French": LATIN + "éèêàçœëïî’",
    "Turkish": LATIN + "çğıİöşü",
    "Polish": LATIN + "ąćęłńóśźż",
    "Vietnamese": LATIN + "ăâđêôơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}
LANGUAGES = (*WRITTEN, *FIRST_AND_LAST)
SIZES = [1, 1, 2, 2, 3, 3, 4, 5, 6, 9, 16]
"""Words of a text."""
WITHOUT_SPACES = {"Thai", "Japanese", "Chinese"}
BETWEEN = [*" " * 14, *("  ", ", ", ". ", "\n", " (", ") ", ": ", "\t", "\u3000", "\u00a0", "-")]
BETWEEN += ["! ", "? ", "…", " — ", "“", "” ", "\r\n", "\u200b", "\u2028", " 1.234,5 ", " ①②", "½"]
WIDE = [*"、。，！？「」１２３ａｂＡ％・", "", "", "", "", "ﬁ", "㍿", "ｶﾞ", "ﾊﾟ", "℃", "\u200d"]
RARE = ["👩\u200d👩\u200d👧", "🏽", "🇩🇪", "❤️", "\u0301", "e\u0301\u0323", "ﷺ", "\u00ad", "\ufeff"]
RARE += ["\ufffd", "▁", "<s>", "\x07", "\u0378", "İ", "ΑΣ", "क्ष", "กำ", "각", "\u1112\u1161\u11ab"]


@cache
def letters_of(language: str) -> tuple[str, str]:
    """Returns the letters and the marks of a language, each as one string."""
    first, last = FIRST_AND_LAST.get(language, (0x300, 0x2FF))
    chars = [chr(code) for code in range(first, last + 1)]
    letters = [char for char in chars if unicodedata.category(char)[0] == "L"]
    marks = [char for char in chars if unicodedata.category(char)[0] == "M"]
    return WRITTEN.get(language) or "".join(letters), "".join(marks)


def draw_words(draw: random.Random, language: str, count: int) -> list[str]:
    """Returns words of a language, some written large, some in another normal form."""
    letters, marks = letters_of(language)
    few = "".join(draw.choices(letters, k=40)) if len(letters) > 100 else letters
    words = []
    for _ in range(count):
        parts = draw.choices(few, k=draw.choice([1, 2, 2, 3, 4, 5, 7, 11]))
        if marks:
            parts = [x + draw.choice([*marks, *[""] * 2 * len(marks)]) for x in parts]
        word = "".join(parts)
        kind = draw.random()
        if kind < 0.1:
            word = word.capitalize() if kind < 0.07 else word.upper()
        elif kind < 0.16:
            word = unicodedata.normalize(draw.choice(["NFC", "NFD", "NFKD"]), word)
        words.append(word)
    return words


def draw_language_text(draw: random.Random, words: Sequence[str], has_spaces: bool) -> str:
    """Returns a text of the words, the first ones more often, with white space, punctuation, and
    few characters that tables of normalizers change or clusters are made of."""
    size, parts, random_number = draw.choice(SIZES), list[str](), draw.random
    between = BETWEEN if random_number() < (0.9 if has_spaces else 0.1) else WIDE
    odd = draw.choice([0.0, 0.0, 0.02, 0.3])
    for _ in range(size):
        parts.append(words[int(len(words) * random_number() ** 3)])
        parts.append(between[int(len(between) * random_number())])
        if odd and random_number() < odd:
            parts.append(draw.choice(RARE))
    return "".join(parts[: draw.choice([len(parts), len(parts) - 1])])


def draw_language_texts(draw: random.Random, count: int) -> tuple[list[str], list[str]]:
    """Returns the words of three languages, and `count` texts of one or of all of
    them."""
    known: dict[str, list[str]] = {
        name: draw_words(draw, name, 200) for name in draw.sample(LANGUAGES, 3)
    }
    mixed = [word for words in known.values() for word in words]
    draw.shuffle(mixed)
    texts = []
    for _ in range(count):
        name = draw.choice([*known, ""])
        words = known.get(name, mixed) if draw.random() < 0.9 else draw_words(draw, LANGUAGES[0], 9)
        texts.append(draw_language_text(draw, words, name not in WITHOUT_SPACES))
    return mixed, texts
