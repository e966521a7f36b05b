"""Drawn WordLevel, WordPiece and BPE whose pre-tokenizer looks at pairs of neighbours."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tests.support.profiles import is_quick

LETTERS = [*"abcABC12.,'-é中文한İßﬁ٣½x_", "\u0301"]
ODD = [
    *"abc AB1.,-_$^`\u0301\u0316\u0345\u0e38\u200b\u200d\u00a0\u3000\u2028\x85\x0b\0ﬁßİ٣½①。“𝟙한",
    *("\ue000", "\U0001d165", "\u0378", "\ufdfa", "\u1112\u1161", "=\u0338", "K", "\r\n", "  "),
]
BEHAVIORS = "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"


def draw_levels(draw: random.Random) -> Tokenizer:
    """A WordLevel; perhaps two of its tokens have one id, or `unk_token` is none."""
    tokens = ["".join(draw.choices(LETTERS, k=draw.choice([1, 1, 2, 3]))) for _ in range(60)]
    vocab = {token: number for number, token in enumerate(dict.fromkeys([*tokens, "ab", "cab"]))}
    if draw.random() < 0.3:
        vocab[draw.choice(tokens)] = 0
    unknown = draw.choice(["[UNK]", "[UNK]", "a", "nothing"])
    vocab |= {unknown: len(vocab)} if unknown == "[UNK]" else {}
    return _staged(draw, Tokenizer(models.WordLevel(_with_holes(draw, vocab), unk_token=unknown)))


def draw_pieces(draw: random.Random) -> Tokenizer:
    prefix = draw.choice(["##", "##", "", "@", "é", "##a"])
    tokens = ["".join(draw.choices(LETTERS, k=draw.choice([1, 1, 2, 5]))) for _ in range(40)]
    spelled = [draw.choice(["", prefix]) + token for token in tokens]
    spelled += [start + char for char in draw.sample(LETTERS, 12) for start in ("", prefix)]
    vocab = {token: number for number, token in enumerate(dict.fromkeys(["[UNK]", *spelled]))}
    limits: dict[str, Any] = {"max_input_chars_per_word": draw.choice([100, 100, 3, 1])}
    limits |= {"unk_token": "[UNK]", "continuing_subword_prefix": prefix}
    return _staged(draw, Tokenizer(models.WordPiece(vocab, **limits)))


def draw_merged(draw: random.Random) -> Tokenizer:
    """A BPE over characters with drawn prefix, suffix, unknown token, bytes and flags."""
    prefix = draw.choice(["", "", "", "##", "@", "a"])
    suffix = draw.choice(["", "", "</w>", "</w>", "x"])
    falls_back, unknown = draw.random() < 0.3, draw.choice([None, "<unk>", "<unk>", "no", "a"])
    ends = [(a, b) for a in sorted({"", prefix}) for b in sorted({"", suffix})]
    chars = draw.sample(LETTERS, draw.randrange(6, len(LETTERS)))
    atoms = [a + char + b for char in chars for a, b in ends if draw.random() < 0.9]
    names = [f"<0x{byte:02X}>" for byte in range(256) if draw.random() < 0.995]
    first = ["<unk>", *(names if falls_back else []), *atoms]
    vocab = {token: number for number, token in enumerate(dict.fromkeys(first))}
    merges = _draw_merges(draw, vocab, [*dict.fromkeys(atoms)], prefix, suffix)
    for _ in range(draw.randrange(3)):
        vocab.setdefault("".join(draw.choices(LETTERS, k=3)), len(vocab))
    settings: dict[str, Any] = {
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "unk_token": unknown,
    }
    model = models.BPE(
        _with_holes(draw, vocab),
        merges,
        fuse_unk=draw.random() < 0.5,
        byte_fallback=falls_back,
        ignore_merges=draw.random() < 0.3,
        **{name: value for name, value in settings.items() if value},
    )
    return _staged(draw, Tokenizer(model))


def _draw_merges(
    draw: random.Random, vocab: dict[str, int], parts: list[str], prefix: str, suffix: str
) -> list[tuple[str, str]]:
    """Adds tokens to `vocab`. Returns merges, perhaps out of order, perhaps one of them twice."""
    merges = []
    for _ in range(draw.randrange(3, 60)):
        left, right = draw.choice(parts), draw.choice(parts)
        made = left + right[len(prefix) :]
        is_odd = (suffix and left.endswith(suffix) and draw.random() < 0.9) or made == left
        if is_odd or not right.startswith(prefix) or len(made) > 16:
            continue
        vocab.setdefault(made, len(vocab))
        merges.append((left, right))
        parts = [*parts, made, made]
    if draw.random() < 0.3:
        draw.shuffle(merges)
    return [*merges, draw.choice(merges)] if merges and draw.random() < 0.3 else merges


def _with_holes(draw: random.Random, vocab: dict[str, int]) -> dict[str, int]:
    if draw.random() < 0.8:
        return vocab
    return {token: 3 * number + 7 for token, number in vocab.items()}


STAGES = 4
"""Normalizers, and half of the pre-tokenizers, that a quick run draws: tables are made once."""


def few_seeds(draw: random.Random, times: int = 1) -> random.Random:
    """What draws a stage: in a quick run one of a few."""
    return random.Random(draw.randrange(times * STAGES if is_quick() else 1 << 40))


def _staged(draw: random.Random, tokenizer: Tokenizer) -> Tokenizer:
    normalizer = draw_normalizer(few_seeds(draw))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = draw_pairs(few_seeds(draw, 2))
    return Tokenizer.from_str(tokenizer.to_str())


def draw_normalizer(draw: random.Random) -> Any:
    """A normalizer that looks at one character at a time, or a normal form; None; or a row."""
    kinds: list[Callable[[], Any]] = [
        *(normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD),
        *(normalizers.Lowercase, normalizers.StripAccents),
        lambda: normalizers.BertNormalizer(
            clean_text=draw.random() < 0.7,
            handle_chinese_chars=draw.random() < 0.7,
            strip_accents=draw.choice([None, True, False]),
            lowercase=draw.random() < 0.6,
        ),
    ]
    count = draw.choice([0, 0, 1, 1, 2, 3])
    accents = [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    rows = accents if draw.random() < 0.1 else [draw.choice(kinds)() for _ in range(count)]
    return None if not rows else rows[0] if len(rows) == 1 else normalizers.Sequence(rows)


def draw_pairs(draw: random.Random) -> Any:
    """A pre-tokenizer that looks at pairs of neighbours, or a row of them."""
    kinds: list[Callable[[], Any]] = [
        *(pre_tokenizers.Whitespace, pre_tokenizers.WhitespaceSplit),
        pre_tokenizers.BertPreTokenizer,
        lambda: pre_tokenizers.Punctuation(draw.choice(BEHAVIORS)),
        lambda: pre_tokenizers.Digits(draw.random() < 0.5),
        lambda: pre_tokenizers.CharDelimiterSplit(draw.choice(" -a")),
        lambda: pre_tokenizers.Split(draw.choice(" -\n1"), draw.choice(BEHAVIORS)),
    ]
    first = draw.choice([*kinds[:3], *kinds[:3], *kinds])()
    rows = [first, *(draw.choice(kinds)() for _ in range(draw.choice([0, 0, 1, 2])))]
    draw.shuffle(rows)
    return rows[0] if len(rows) == 1 else pre_tokenizers.Sequence(rows)


PAIRS: dict[str, Callable[[random.Random], Tokenizer]] = {
    "levels": draw_levels,
    "pieces": draw_pieces,
    "merged": draw_merged,
}
