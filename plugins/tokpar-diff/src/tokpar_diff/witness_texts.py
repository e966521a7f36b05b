"""Texts that are likely to show a change: one or more for each part of a tokenizer's structure, and
drawn ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tokpar.certificate.canonical_form import JsonForm, RankForm, regex_of, setting
from tokpar.facts.hf_vocabulary import bytes_of_token
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, machines_of

Form = JsonForm | RankForm
Witness = tuple[str, str]
"""(what the text is about, the text)."""

SEED = 20_260_101
MOST_TOKENS = 100
"""Tokens at each end of the vocabulary or merges, and in between twice as many."""
MOST_WORDS = 800
"""Texts for the branches of one pattern."""
DRAWN = 400
_PLAIN = (
    *(
        "",
        " ",
        "  ",
        "\n",
        "\t",
        "\r\n",
        " a",
        "a ",
        "  a  b ",
        "a\n\nb",
        "\n a",
        "a \n",
        "\u00a0a",
    ),
    *(
        "I'm you'LL we've don'T",
        "123 4567 89012345678",
        "1.5e-3",
        "x=1;y+=2",
        "a1b2_c-d.e",
        "...!!!???",
    ),
    *(
        "CamelCase XMLHttp",
        "中文字符，日本語テキスト 한국어",
        "naïve café",
        "🙂👨\u200d👩\u200d👧🇩🇪",
        "e\u0301 е\u0308",
    ),
    *(
        "שלום عربي हिन्दी ไทย",
        "\ufeffa\u200bb\u00adc",
        "½ ² Ⅷ ٣",
        "a\x00b\x7f",
        "▁a▁▁b",
        "##a ## Ġ",
        "<0x41> Ċ",
    ),
)
_NORMALIZING = (
    *(
        "À",
        "A\u0300",
        "É",
        "ﬁ",
        "①",
        "Å",
        "가",
        "\u1100\u1161",
        "ẞ",
        "ß",
        "İ",
        "ΑΣ",
        "Ǆ",
        "ё",
        "\u0344",
        "a\u0323\u0301",
    ),
    *(
        "\u3000",
        "\u2003a",
        "\u2028",
        "…",
        "“a”",
        "ａ１",
        "豈",
        "中",
        "ｶﾞ",
        "\u0958",
        "\u1e9b\u0323",
        "\x1f",
        "\u0085",
        "ﷺ",
    ),
)
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJ",
    "0123456789",
    "     \n\t",
    ".,;:!?'\"-_/()[]{}<>|@#$%&*+=",
    "éàüßñçøåÀÉİ",
    "абвгд",
    "中文字日本語한국어",
    "🙂👍🏽\u200d\u0301\u00a0\u3000ﬁ①",
)


def witness_texts(form: Form | None) -> list[Witness]:
    """Returns the texts for a tokenizer of this form, without repetitions. Without a form: those
    for every tokenizer."""
    found: dict[str, str] = {}
    for about, text in _texts(form):
        found.setdefault(text, about)
    return [(about, text) for text, about in found.items()]


def _texts(form: Form | None) -> Iterator[Witness]:
    yield from (("plain text", text) for text in _PLAIN)
    yield from (("normalizer", text) for text in _NORMALIZING)
    yield from (("byte", chr(point)) for point in _points())
    tokens: list[str] = []
    if form is not None:
        yield from _of_stages(form)
        for token in form.added_tokens:
            yield from added_token_texts(token.content)
        for pattern, engine in patterns_of(form):
            yield from (("pattern", text) for text in pattern_texts(pattern, engine))
        tokens = list(token_texts(form))
        yield from (("token", text) for text in tokens)
        tokens += [token.content for token in form.added_tokens]
    yield from (("drawn", text) for text in drawn_texts(SEED, DRAWN, tokens))


def _points() -> Iterator[int]:
    """Yields the characters below U+0100, and one for each first byte of UTF-8 above."""
    yield from range(0x100)
    yield from range(0x100, 0x800, 0x40)
    yield from range(0x800, 0xD000, 0x1000)
    yield from (0xE000, 0xFFFD, 0x10000, 0x40000, 0x10FFFF)


def added_token_texts(content: str) -> Iterator[Witness]:
    """Yields texts in which an added token stands beside letters, spaces, itself and both ends."""
    yield f"added token {content}", f"{content} a{content}b  {content}\n{content}{content}"
    if len(content) > 1:
        yield f"added token {content}", f"a {content[:-1]} {content[1:]}"


def _of_stages(form: Form) -> Iterator[Witness]:
    """Yields texts with the strings that the stages name: what Replace replaces, at what Split
    splits."""
    stages = (*form.normalizers, *form.pre_tokenizers) if isinstance(form, JsonForm) else ()
    for stage in stages:
        named = [setting(stage, name) for name in ("pattern", "content", "prepend", "delimiter")]
        for text in named:
            if isinstance(text, str) and text:
                yield stage.kind, f"{text}a{text}{text} b{text}"


def patterns_of(form: Form) -> list[tuple[str, str]]:
    """Returns (pattern, engine) of each Split by a regex."""
    if isinstance(form, RankForm):
        return [(pattern, form.engine) for pattern in form.patterns]
    found = [regex_of(stage) for stage in form.pre_tokenizers if stage.kind == "Split"]
    return [(pattern, form.engine) for pattern in found if pattern is not None]


def pattern_texts(pattern: str, engine: str) -> list[str]:
    """Returns a text for each move of the pattern's automaton, [] for a pattern that no automaton
    decides."""
    try:
        symbols, (machine,) = machines_of([SplitStage(pattern, engine)])
    except UnsupportedPatternError:
        return []
    words = sorted({(*word, c) for word in machine.words for c in range(machine.size)})
    words = words[:: 1 + len(words) // MOST_WORDS]
    return ["".join(symbols.examples[c] for c in word) for word in words]


def token_texts(form: Form) -> Iterator[str]:
    """Yields the texts of tokens from the start, the end and the middle of the vocabulary, and of
    the merges."""
    yield from (text for token in _some(tokens_by_id(form)) if (text := text_of(token, form)))
    if isinstance(form, JsonForm):
        merges = form.model.get("merges") or ()
        for merge in _some(merges):
            yield text_of("".join(pair_of(merge)), form) or ""


def _some(tokens: Sequence[str]) -> Sequence[str]:
    step = 1 + len(tokens) // (2 * MOST_TOKENS)
    return [*tokens[:MOST_TOKENS], *tokens[MOST_TOKENS:-MOST_TOKENS:step], *tokens[-MOST_TOKENS:]]


def pair_of(merge: str | Sequence[str]) -> tuple[str, str]:
    """Returns the two tokens of a merge, which old files write with a space between."""
    left, _, right = merge.partition(" ") if isinstance(merge, str) else (merge[0], "", merge[1])
    return left, right


def vocabulary_of(form: Form) -> Mapping[str, int]:
    """Returns the model's tokens with their ids. Tokens of tiktoken are spelled as byte-level
    tokens."""
    if isinstance(form, RankForm):
        letters = _byte_letters()
        return {"".join(letters[byte] for byte in token): k for token, k in form.tokens.items()}
    vocabulary = form.model.get("vocab")
    if isinstance(vocabulary, Mapping):
        return vocabulary
    return {piece[0]: k for k, piece in enumerate(vocabulary or ())}


def _byte_letters() -> dict[int, str]:
    from tokpar.formats.vocabulary import byte_alphabet

    return {byte: letter for letter, byte in byte_alphabet().items()}


def tokens_by_id(form: Form) -> list[str]:
    """Returns the model's tokens in the order of their ids."""
    return [token for token, _ in sorted(vocabulary_of(form).items(), key=lambda pair: pair[1])]


def is_byte_level(form: Form) -> bool:
    """True if the model's tokens spell bytes by the letters of GPT-2."""
    if isinstance(form, RankForm):
        return True
    return any(stage.kind == "ByteLevel" for stage in (*form.normalizers, *form.pre_tokenizers))


def text_of(token: str, form: Form) -> str | None:
    """Returns a text that may become this token, or None."""
    if is_byte_level(form):
        spelled = bytes_of_token(token)
        try:
            return None if spelled is None else spelled.decode()
        except UnicodeDecodeError:
            return None
    return token.removeprefix("##").replace("▁", " ")


def drawn_texts(seed: int, count: int, tokens: Sequence[str] = ()) -> Iterator[str]:
    """Yields texts drawn at random, from characters of many kinds and from `tokens`."""
    draw = random.Random(seed)
    for _ in range(count):
        kinds = draw.sample(_ALPHABETS, draw.randint(1, 4))
        parts: Iterable[str] = (draw.choice(draw.choice(kinds)) for _ in range(draw.randint(1, 24)))
        if tokens and draw.random() < 0.5:
            parts = [draw.choice(tokens) if draw.random() < 0.3 else part for part in parts]
        yield "".join(parts)
