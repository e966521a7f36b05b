"""Sure cuts of the compiled call (theorem 60), and the parts that the engine encodes."""

from __future__ import annotations

import random
import unicodedata
from itertools import combinations_with_replacement, pairwise, product
from string import ascii_letters
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import cases, needs_kernel
from tests.support.calls_drawn import ATOMS, GPT2, PATTERNS, QWEN
from tokpar.compiled.call_tables import byte_arrays, call_of
from tokpar.compiled.merges import GateError, merges_of
from tokpar.compiled.quick_check import CHANGES, FORMS, quick_check
from tokpar.formats.vocabulary import letters_of

pytestmark = [pytest.mark.ids, needs_kernel]
SPLIT = pre_tokenizers.Split
OTHERS = "é中ß、，。\u00a0\u3000\u2028٣²№😀\u0301\u200d\u0378"
"""Letters, numbers, punctuation, white space, a mark, a joiner, and one that is not assigned."""
ROWS = [[pattern] for pattern in PATTERNS] + [
    [GPT2, r"\p{N}{1,3}"],
    [r"\d{1,3}", GPT2],
    [r"[0-9]+", r"ab|bc", r"\s"],
    [r"\p{P}+", QWEN],
    ["xab|.", "xa|."],
    [r"[a-z]+(?!\S)|.", r"\s+|ab"],
    [r"a[a-c ]|\s+(?!\S)", r"[a-z ]+(?!\S)|x", "[abc]{1,2}"],
]
SOME_ROWS = cases(ROWS, ROWS[::2])


def tokenizer_of(
    patterns: list[str], normalizer: Any = None, merges: tuple[tuple[str, str], ...] = ()
) -> Tokenizer:
    vocab = {letters_of(bytes([byte])): byte for byte in range(256)}
    spelled = [(letters_of(x.encode()), letters_of(y.encode())) for x, y in merges]
    vocab |= {x + y: 256 + k for k, (x, y) in enumerate(spelled)}
    tokenizer = Tokenizer(models.BPE(vocab, spelled))
    splits = [SPLIT(Regex(pattern), "isolated", False) for pattern in patterns]
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, bytes_])
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return tokenizer


def call_for(tokenizer: Tokenizer, added: dict[str, tuple[int, int, int]] | None = None) -> Any:
    facts = tokpar.load(tokenizer).facts
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    arrays = byte_arrays(facts, merges_of(tokenizer.model.__getstate__(), size))
    return call_of(arrays, added or {}, ((), ()))


def ids_of(found: Any) -> list[int]:
    """The ids of an answer without holes."""
    ids = found if type(found) is bytes else found[0]
    assert type(found) is bytes or not found[1]
    return np.frombuffer(ids, np.uint32).tolist()


def tokens_of(found: Any, tokenizer: Tokenizer) -> list[int]:
    """The ids of an answer whose holes the engine fills."""
    if type(found) is bytes:
        return ids_of(found)
    ids, filled, start = np.frombuffer(found[0], np.uint32).tolist(), list[int](), 0
    for place, part in found[1]:
        filled += [*ids[start:place], *tokenizer.encode(part.decode()).ids]
        start = place
    return filled + ids[start:]


@pytest.mark.parametrize("row", SOME_ROWS, ids=" then ".join)
def test_a_pre_token_of_the_engine_ends_at_every_sure_pair(row: list[str]) -> None:
    draw = random.Random(str(row))
    tokenizer = tokenizer_of(row)
    call = call_for(tokenizer)
    splits = [SPLIT(Regex(pattern), "isolated", False) for pattern in row]
    engine = pre_tokenizers.Sequence(splits)
    chars = [*map(chr, range(128)), *OTHERS]
    sure = [(a, b) for a, b in product(chars, repeat=2) if call.is_sure(ord(a), ord(b))]
    assert row != [GPT2] or len(sure) > 3000
    nasty = [*"aabc'st  \n\r\t19.,_-\x00\x7f", "  ", "don't", "123"]
    for _ in range(300):
        parts = [draw.choice([*nasty, *ATOMS]) for _ in range(draw.randrange(8))]
        parts += ["".join(pair) for pair in draw.choices(sure, k=min(len(sure), 3))]
        draw.shuffle(parts)
        text = "".join(parts)
        ends = {end for _, (_, end) in engine.pre_tokenize_str(text)}
        for place in range(1, len(text)):
            a, b = text[place - 1], text[place]
            if call.is_sure(ord(a), ord(b)):
                assert place in ends, (text, place)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        pytest.param(["[0-9]+"], "xy", id="in a gap"),
        pytest.param(["ab|."], "ab", id="a run goes on"),
        pytest.param(["(?:ab)+|[^z]"], "ab", id="a run goes on after others"),
        pytest.param(["a(?=c)|[bc]+"], "ab", id="a run that begins at a does not hit"),
        pytest.param([r"\s+(?!\S)|."], "  1", id="a run hits at the end only"),
        pytest.param(["xa(?=b)|."], "xab", id="a run hits before b only"),
        pytest.param(["xab|.", "xa|."], "xab", id="an earlier stage reaches over"),
    ],
)
def test_sure_cuts_need_each_condition(row: list[str], text: str) -> None:
    """The pair of the last two characters is not sure, though only one condition is missing."""
    *before, a, b = text
    assert not call_for(tokenizer_of(row)).is_sure(ord(a), ord(b))
    assert call_for(tokenizer_of(["."])).is_sure(ord(a), ord(b))
    merged = tokenizer_of(row, merges=((before[-1], a) if before else (a, b),))
    call = call_for(merged)
    for each in (text, text * 3, f"{text} {text}"):
        assert ids_of(call.encode_plain(each)) == merged.encode(each).ids


@pytest.mark.parametrize(
    "pattern",
    [
        *("x", "bc|.", "b(?=c)", "abc|.", r"ab(?=c)|.", r"a\s+(?!\S)|.", "xa(?=b)|.", "ab|."),
        *(r"a\s+(?!\S)|[ab]", r"[^b]+|b(?=c)", "(?:abc)+|[ab]c?", r" ?[a-z]+|\s+(?!\S)|\s+"),
        *(GPT2, QWEN),
    ],
)
def test_three_characters_cut_nothing_that_the_engine_leaves_whole(pattern: str) -> None:
    """Theorem 63: in each pattern but the last three a pair or triple misses one condition. Any two
    neighbours merge, so each cut shows. A mark composes with the letter before it, and a text or a
    section ends within a triple."""
    draw = random.Random(pattern)
    alphabet = [*"abcx \n", "  ", "ab", "bc", "abc", "(a", ' "']
    merges = tuple(product('abcx \n("', repeat=2))
    tokenizer = tokenizer_of([pattern], normalizers.NFC(), merges)
    call = call_for(tokenizer)
    for size in (*range(40), *range(100, 180), 20_000, 20_000):
        text = "".join(draw.choices(alphabet, k=size))
        if size % 2 and len(text) > 70:
            place = draw.randrange(60, len(text))
            text = text[:place] + "e\u0301" + text[place:]
        expected = tokenizer.encode(text).ids
        assert tokens_of(call.encode_plain(text), tokenizer) == expected, text[:200]


def test_a_mark_behind_a_third_character_changes_it() -> None:
    """Two spaces before "e" are cut, and before "\u00e9" they are one match. The mark stands at
    each place behind the 64 that are looked at together."""
    tokenizer = tokenizer_of([r"\s+(?![a-z])|\s|[a-z]+|."], normalizers.NFC(), [(" ", " ")])
    call = call_for(tokenizer)
    for size in range(200):
        text = "x" * size + "  e\u0301" + " y" * 100
        assert tokens_of(call.encode_plain(text), tokenizer) == tokenizer.encode(text).ids, size


@pytest.mark.each_value
@pytest.mark.parametrize("uses_avx2", [True, False])
@pytest.mark.parametrize("row", SOME_ROWS, ids=" then ".join)
def test_text_of_all_pairs_of_bytes_has_the_engine_s_ids(
    row: list[str], uses_avx2: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokpar.compiled.call_tables.USES_AVX2", uses_avx2)
    draw = random.Random(str(row))
    pairs = ["".join(pair) for pair in product(map(chr, range(128)), repeat=2)]
    merges = tuple((a, b) for a, b in draw.sample(pairs, 3000))
    tokenizer = tokenizer_of(row, merges=merges)
    call = call_for(tokenizer)
    for chars in (pairs, ["ab", "a ", " b", "  ", "\n", "1", "c", ".,", "'s", "é", "中 "]):
        text = "".join(draw.choices(chars, k=20_000))
        assert ids_of(call.encode(text)) == tokenizer.encode(text).ids


@pytest.mark.parametrize("length", [2, 15, 16, 24])
def test_bytes_of_one_pre_token_and_of_several_have_entries_of_their_own(length: int) -> None:
    """ "aa" alone is two pre-tokens, before "c" it is one."""
    tokenizer = tokenizer_of([rf"a{{{length}}}(?=c)|[^x]"], merges=(("a", "a"), ("aa", "c")))
    both = "a" * length, "a" * length + "c"
    for texts in (both, both[::-1]):
        call = call_for(tokenizer)
        for text in texts * 3:
            assert ids_of(call.encode(text)) == tokenizer.encode(text).ids
            found = call.encode_places(text)
            assert np.frombuffer(found[0], np.uint32).tolist() == tokenizer.encode(text).ids
            words = [word for word in tokenizer.encode(text).word_ids if word is not None]
            assert np.frombuffer(found[2], np.int64).tolist() == words


def test_segments_that_share_a_place_of_the_front_table_have_their_own_ids() -> None:
    """As many words of the same eight bytes as find two at one of its 8,192 places often."""
    merges = (("a", "a"), ("aa", "aa"), ("aaaa", "aaaa"))
    tokenizer = tokenizer_of([GPT2], merges=merges)
    words = ["a" * 8 + "".join(end) for end in product(ascii_letters[1:], repeat=2)]
    text = "\n".join(word for pair in pairwise(words) for word in pair)
    assert ids_of(call_for(tokenizer).encode_plain(text)) == tokenizer.encode(text).ids


def test_a_long_word_merges_nothing_beyond_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of an earlier text still lie in the buffer after the ids of the word."""
    monkeypatch.setattr(
        "tokpar.compiled.call_tables.LONGEST_FROM", 1 << 20
    )  # merges encode the word
    tokenizer = tokenizer_of([GPT2], merges=(("a", "a"), ("aa", "b")))
    call = call_for(tokenizer)
    for text in ("b" * 200, "c" * 78 + "aa"):
        assert ids_of(call.encode_plain(text)) == tokenizer.encode(text).ids


@pytest.mark.parametrize("letters", ["ab ", "aé ", "a中\U0001f600"])
def test_a_part_is_the_code_points_between_two_places(letters: str) -> None:
    """At the ends, at the edges of blocks of 4,096 bytes, and beyond the end."""
    call = call_for(tokenizer_of([GPT2]))
    text = "".join(random.Random(letters).choices(letters, k=12_000))
    places = [0, 1, 4095, 4096, 4097, 8191, 8193, 11_999, 12_000, 20_000]
    for start, stop in combinations_with_replacement(places, 2):
        assert ids_of(call.encode_part(text, start, stop)) == ids_of(
            call.encode_plain(text[start:stop])
        )
    assert call.encode_part("a\ud800", 0, 1) is None  # the whole text has no UTF-8
    for start, stop in ((-1, 1), (2, 1)):
        with pytest.raises(ValueError, match="start and stop do not fit"):
            call.encode_part(text, start, stop)
    with pytest.raises(TypeError):
        call.encode_part(b"ab", 0, 1)


@pytest.mark.parametrize("row", SOME_ROWS, ids=" then ".join)
def test_parts_between_sure_cuts_have_their_own_pre_tokens(row: list[str]) -> None:
    """What the engine makes of a text, it makes of both sides of each sure cut."""
    draw = random.Random(str(row))
    call = call_for(tokenizer_of(row))
    engine = pre_tokenizers.Sequence([SPLIT(Regex(each), "isolated", False) for each in row])

    def ends_of(text: str) -> list[int]:
        return [end for _, (_, end) in engine.pre_tokenize_str(text)]

    for _ in range(200):
        text = "".join(draw.choices([*"aabcxz'st  \n\r19.,", "  ", *OTHERS, "don't"], k=9))
        pairs = enumerate(pairwise(text), 1)
        for place, (a, b) in pairs:
            if call.is_sure(ord(a), ord(b)):
                left, right = ends_of(text[:place]), ends_of(text[place:])
                assert ends_of(text) == [*left, *(place + end for end in right)]


@pytest.mark.parametrize("marks", ["\u0301", "\u0316\u0301", "\u0301x"])
def test_no_cut_is_made_before_a_character_that_composes(marks: str) -> None:
    tokenizer = tokenizer_of(["[0-9é]+|[a-z]+"], normalizers.NFC())
    first, second = letters_of("é".encode())
    vocab = tokenizer.get_vocab() | {first + second: 256, f"1{first}{second}": 257}
    rules = [(first, second), ("1", first + second)]
    tokenizer.model = models.BPE(vocab, rules)
    call = call_for(tokenizer)
    assert call.is_sure(ord("1"), ord("e"))
    text = f"1e{marks} ab"
    assert tokenizer.encode(text).ids[0] == 257
    found = call.encode_plain(text)
    assert [part.decode().startswith(f"1e{marks}") for _, part in found[1]] == [True]
    assert 256 not in np.frombuffer(found[0], np.uint32).tolist()


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        pytest.param("x" * 111 + "1e\u0301 ab", "1é", id="behind the right side"),
        pytest.param("x" * 109 + "e\u03011 ab", "é1", id="the left side"),
        pytest.param("x" * 111 + "e\u03011 ab", "xé", id="the right side"),
    ],
)
def test_no_run_ends_where_the_normalizer_may_change_characters(text: str, merged: str) -> None:
    """Byte 112 is the first at which a run may end; the pair of characters there would be sure."""
    tokenizer = tokenizer_of(["[x0-9é]+|[a-z]|."], normalizers.NFC())
    first, second = letters_of("é".encode())
    left, right = map(letters_of, (each.encode() for each in merged))
    vocab = tokenizer.get_vocab() | {first + second: 256, left + right: 257}
    tokenizer.model = models.BPE(vocab, [(first, second), (left, right)])
    adapter: Any = tokpar.load(tokenizer)
    call = adapter.later_call.wait()
    text += "a b " * 100
    place = len(text.encode()[:112].decode())
    assert call._call.is_sure(ord(text[place - 1]), ord(text[place]))
    expected = tokenizer.encode(text).ids
    assert 257 in expected
    for _ in range(3):
        assert call.encode(text).tolist() == expected


def test_added_tokens_of_the_normalized_text_leave_holes_to_the_engine() -> None:
    """A part with characters that may change would be a text of its own for the engine."""
    tokenizer = tokenizer_of([GPT2], normalizers.NFC())
    call = call_for(tokenizer)
    text = "x1 e\u0301 1x"
    assert type(call.encode_plain(text)) is tuple
    added = call_for(tokenizer, {"é": (300, 0, True)})
    assert added.encode_plain(text) is None
    assert ids_of(added.encode_plain("x1é1x")) == [*b"x1", 300, *b"1x"]
    rejected = call_for(tokenizer, {"1": (300, 1, False)})  # single_word
    assert rejected.encode_plain(text) is None


def test_a_sequence_of_no_normalizers_moves_no_added_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DeepSeek's files have one. Only the segment of a character that is not assigned is the
    engine's."""
    monkeypatch.setattr("tokpar.compiled.compiled_build.IN_BACKGROUND", False)
    nested = normalizers.Sequence([normalizers.Sequence([])])
    tokenizer = tokenizer_of([GPT2], nested)
    tokenizer.add_tokens([AddedToken("é", normalized=True)])
    adapter: Any = tokpar.load(tokenizer)
    call = adapter.later_call.wait()
    text = "x1é " * 9 + "a\u0378 b" + " 1x" * 9
    _, holes, _ = call._call.encode_plain(text)
    assert sum(len(part) for _, part in holes) < 12
    assert call.encode(text).tolist() == tokenizer.encode(text).ids


@pytest.mark.parametrize("text", ["x\u0e48\u0e38 y", "x\u0307\u0323", "\u0e38\u0e48", "x\u0e48"])
def test_added_tokens_are_searched_in_text_that_is_normal(text: str) -> None:
    """A mark that is an added token may change places with its neighbours before it is found."""
    tokenizer = tokenizer_of([GPT2], normalizers.NFD())
    tokenizer.add_tokens([AddedToken(char, normalized=True) for char in "\u0e48\u0307"])
    call = call_for(tokenizer, {"\u0e48": (256, 0, True), "\u0307": (257, 0, True)})
    found = call.encode_plain(text)
    if unicodedata.normalize("NFD", text) != text:
        assert found is None
    else:
        assert ids_of(found) == tokenizer.encode(text).ids


@pytest.mark.parametrize("form", FORMS)
def test_marks_out_of_order_are_not_normal(form: Any) -> None:
    tokenizer = tokenizer_of([r"\S+|\s"], getattr(normalizers, form)())
    call = call_for(tokenizer)
    for text in ("x\u0323\u0307 y", "x\u0307\u0323 y", "x\u0316 \u0301"):
        found = call.encode_plain(text)
        if unicodedata.normalize(form, text) != text:
            assert type(found) is tuple
            assert found[1]
        elif type(found) is bytes or not found[1]:
            assert ids_of(found) == tokenizer.encode(text).ids


@pytest.mark.parametrize("form", FORMS)
def test_text_that_passes_the_quick_check_is_its_own_normal_form(form: Any) -> None:
    table = quick_check((form,))
    assert table is not None
    draw, engine = random.Random(form), getattr(normalizers, form)()
    classes = [np.flatnonzero(table == value).tolist() for value in np.unique(table)[:-1]]
    nasty = [[ord(c) for c in "aeou"], [0x1112, 0x1161, 0x11A8, 0xAC00, 0x0323, 0x0301, 0x0E38]]
    seen = 0
    for _ in range(4000):
        codes = [draw.choice(draw.choice([classes[0], *classes, *nasty])) for _ in range(4)]
        numbers = table[codes].tolist()
        pairs = pairwise(numbers)
        if 255 in numbers or any(0 < b < a for a, b in pairs):
            continue
        seen += 1
        text = "".join(map(chr, codes))
        assert engine.normalize_str(text) == text
    assert seen > 300


@pytest.mark.parametrize("kind", [*FORMS, "Lowercase", "StripAccents"])
def test_a_character_that_passes_the_quick_check_is_left_alone(kind: str) -> None:
    table = quick_check((kind,))
    assert table is not None
    kept = [chr(code) for code in np.flatnonzero(table != CHANGES).tolist()]
    assert len(kept) > 200_000
    text = "\U0010ffff".join(kept)
    assert getattr(normalizers, kind)().normalize_str(text) == text


def test_vowel_signs_that_strip_accents_takes_away_are_no_text_as_it_is() -> None:
    """U+093F is a mark that takes place (Mc)."""
    tokenizer = tokenizer_of([GPT2], normalizers.StripAccents())
    found = call_for(tokenizer).encode_plain(text := "x\u0939\u093f a")
    assert type(found) is tuple
    assert found[1]
    assert tokpar.Encoder(tokenizer).encode(text).ids.tolist() == tokenizer.encode(text).ids


def test_a_row_that_changes_ascii_is_refused() -> None:
    with pytest.raises(GateError, match="changes ASCII"):
        call_for(tokenizer_of([GPT2], normalizers.Lowercase()))
