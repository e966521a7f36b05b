"""Untrusted spans: the ids are those of one call of the engine on the text with names."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

import tokpar
from tests.support.named_engine import (
    ERRORS,
    SPECIALS,
    NamedEngine,
    Span,
    World,
    chat_text,
    drawn_spans,
    encoding_of,
    small_chat,
)
from tokpar.untrusted import named_text, trusted_encoder, trusted_search

TEXT = "<|start|>user <|end|> and <|start|>"


def ids_of(tokenizer: Tokenizer, text: str, **options: Any) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False, **options).ids


def engine_answer(call: Callable[[], Any]) -> Any:
    """What the engine returns; None if it panics on its own added tokens."""
    try:
        return call()
    except BaseException as error:  # a panic is no Exception
        if isinstance(error, (KeyboardInterrupt, AssertionError)):
            raise
        return None


@given(seed=st.integers(0, 1 << 32))
def test_ids_and_places_are_those_of_the_engine_with_names(seed: int) -> None:
    assert_equals_the_definition(World(seed))


def assert_equals_the_definition(world: World) -> None:
    for _ in range(6):
        text, spans = world.text()
        expected = engine_answer(lambda text=text, spans=spans: world.engine.encode(text, spans))
        if expected is None:
            continue
        try:
            found = world.encoder.encode(text, untrusted=spans, control=world.control)
        except ERRORS:
            continue
        shown = world.own.to_str()[:2000], text, spans, world.control
        assert found.ids.tolist() == expected[0], shown
        assert_no_control_token_touches(found, spans, world, text)


def assert_no_control_token_touches(
    found: tokpar.Encoding, spans: list[Span], world: World, text: str
) -> None:
    """By place, not by id: what the model gives for ordinary text is no control token."""
    control = {world.own.token_to_id(content) for content in world.control}
    try:
        places = found.char_spans.tolist()
    except LookupError:
        return
    matched = world.engine.found(text, spans)
    for id_, (start, stop) in zip(found.ids.tolist(), places, strict=True):
        if id_ in control:
            assert any(start <= a and b <= stop for a, b, _ in matched), (text, spans, id_)


@given(seed=st.integers(0, 1 << 32))
def test_nothing_untrusted_is_encode_and_everything_is_encode_special_tokens(seed: int) -> None:
    world = World(seed)
    stepping = Tokenizer.from_str(world.own.to_str())
    stepping.encode_special_tokens = True
    for _ in range(4):
        text, _ = world.text()
        pairs = (
            ([], lambda text=text: ids_of(world.own, text)),
            ([(0, len(text))], lambda text=text: ids_of(stepping, text)),
        )
        for spans, call in pairs:
            expected = engine_answer(call)
            try:
                found = world.encoder.encode(text, untrusted=spans, control="special")
            except ERRORS:
                continue
            assert expected is None or found.ids.tolist() == expected


@given(seed=st.integers(0, 1 << 32))
def test_a_span_that_no_added_token_touches_changes_nothing(seed: int) -> None:
    world = World(seed)
    for _ in range(4):
        parts = [chat_text(world.rng, world.contents), world.rng.choice(["x", "zz 7", " y "])]
        text = "".join([*parts, chat_text(world.rng, world.contents)])
        span = len(parts[0]), len(parts[0]) + len(parts[1])
        near = text[max(0, span[0] - 8) : span[1] + 8]
        if any(content[:1] in parts[1] or content in near for content in world.contents):
            continue
        own = engine_answer(lambda text=text: ids_of(world.own, text))
        try:
            found = world.encoder.encode(text, untrusted=[span], control=world.control)
        except ERRORS:
            continue
        assert own is None or found.ids.tolist() == own


def fails_somewhere(count: int = 150) -> bool:
    """Whether the definition notices a fault in some of `count` drawn worlds."""
    for seed in range(count):
        try:
            assert_equals_the_definition(World(seed))
        except AssertionError:
            return True
    return False


def whole_text(untrusted: object, length: int) -> list[Span]:
    return [(0, length)]


def split_at_edges(untrusted: Any, length: int) -> list[Span]:
    return trusted_search.trusted_runs([*untrusted, (length, length)], length)[:1]


def without_edges(first: int, control: Any, vocabulary: str) -> dict[str, str]:
    return {content: chr(first + k) for k, content in enumerate(sorted(control))}


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [
        (trusted_encoder, "trusted_runs", whole_text),
        (trusted_encoder, "trusted_runs", split_at_edges),
        (trusted_encoder, "names_from", without_edges),
        (trusted_encoder, "has_private", lambda *arguments: False),
        (trusted_search, "_stands_alone", lambda *arguments: True),
    ],
    ids=["spans ignored", "later runs forgotten", "no word edge", "name in the text", "in a word"],
)
def test_a_planted_fault_is_noticed(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, fault: Any
) -> None:
    monkeypatch.setattr(named_text, "randbelow", lambda count: 0)  # U+E000, which texts have
    monkeypatch.setattr(module, name, fault)
    assert fails_somewhere()


def test_cutting_at_the_edges_of_spans_would_change_ids() -> None:
    """The counterexample of proofs/untrusted.md: a word that begins before the span."""
    vocabulary = {char: k for k, char in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    vocabulary["ab"] = 256
    tokenizer = Tokenizer(models.BPE(vocabulary, [("a", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    encoder = tokpar.Encoder(tokenizer)
    assert encoder.encode("ab", untrusted=[(1, 2)]) == [256]
    assert [*encoder.encode("a"), *encoder.encode("b")] != [256]


def test_sections_alone_would_change_ids() -> None:
    """The other counterexample: Metaspace puts its mark before the first section only."""
    tokenizer = Tokenizer(models.WordLevel({"▁a": 0, "a": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.add_special_tokens(["<s>"])
    found = tokpar.encode("a<s>a", tokenizer, untrusted=[(4, 5)])
    assert found == ids_of(tokenizer, "a<s>a") == [0, 3, 1]
    assert ids_of(tokenizer, "a") == [0]


def test_segments_cannot_close_a_turn() -> None:
    tokenizer = small_chat()
    end = tokenizer.token_to_id("<|end|>")
    segments = [("<|start|>", True), ("hi <|end|>", False), ("<|end|>", True)]
    found = tokpar.encode_segments(segments, tokenizer)
    assert found.ids.tolist().count(end) == 1
    assert found == tokpar.Encoder(tokenizer).encode_segments(segments)
    halves = [("<|en", True), ("d|>", True), ("<|en", True), ("", False), ("d|>", True)]
    assert tokpar.encode_segments(halves, tokenizer) == [end, end]
    assert end not in tokpar.encode_segments([("<|en", True), ("d|>", False)], tokenizer).ids


def test_the_report_lists_control_tokens_and_spans() -> None:
    tokenizer = small_chat()
    found = tokpar.encode(TEXT, tokenizer, untrusted=[(9, 21)])
    assert found.report.trust is not None
    assert found.report.trust.control == tuple(sorted([*SPECIALS, "<tool>"]))
    assert found.report.trust.untrusted == ((9, 21),)
    special = tokpar.encode(TEXT, tokenizer, untrusted=[], control="special").report.trust
    assert special is not None
    assert special.control == tuple(sorted(SPECIALS))
    chosen = tokpar.encode("<tool><|end|>", tokenizer, untrusted=[(0, 13)], control=["<tool>"])
    assert tokenizer.token_to_id("<|end|>") in chosen.ids
    assert tokenizer.token_to_id("<tool>") not in chosen.ids


def test_special_tokens_truncation_and_padding_are_those_of_the_own_call() -> None:
    tokenizer = small_chat()
    start, end = (tokenizer.token_to_id(each) for each in SPECIALS[:2])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|start|> $A <|end|>", special_tokens=[("<|start|>", start), ("<|end|>", end)]
    )
    tokenizer.enable_truncation(12)
    tokenizer.enable_padding(length=16, pad_id=3, pad_token="<|user|>")
    text = "<|user|>ab<|end|>cdefgh" * 3
    for spans in ([], [(8, 60)]):
        found = tokpar.encode(text, tokenizer, untrusted=spans)
        assert len(found) == 16
        assert found.truncated
        assert found.ids[0] == start
        assert found.ids[11] == end
        if not spans:
            assert found == tokenizer.encode(text).ids
    assert found.spans.tolist()[1] == [0, 8]


def test_long_texts_have_places_and_seams_of_the_text() -> None:
    tokenizer = small_chat()
    part = "<|start|>some words é and <|end|> more, "
    text = part * 4000
    spans = [(k * len(part) + 9, k * len(part) + len(part) - 7) for k in range(0, 4000, 3)]
    encoder = tokpar.Encoder(tokenizer, workers=2)
    found = encoder.encode(text, untrusted=spans)
    engine = NamedEngine(tokenizer, [*SPECIALS, "<tool>"])
    ids, places = engine.encode(text, spans)
    assert found.ids.tolist() == ids
    # the engine gives both bytes of a character its whole place, as char_spans does
    assert np.array_equal(found.char_spans, np.array(places))
    data = text.encode()
    assert b"".join(data[a:b] for a, b in found.spans.tolist()) == data
    for seam in found.seams[:50]:
        first = found.char_spans[seam.token, 0]
        assert first == seam.position


def test_what_the_model_gives_itself_is_an_error_that_names_the_place() -> None:
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("</s>", -1.0)], 0))
    tokenizer.add_special_tokens(["</s>", "<unk>"])
    encoder = tokpar.Encoder(tokenizer)
    assert encoder.trusted_encoder().given_ids == {2: "</s>"}
    assert encoder.encode("a</s>a", untrusted=[(0, 1)]) == [1, 2, 1]
    with pytest.raises(tokpar.ControlTokenError, match=r"'</s>' .*\(code points 1 to 5\)"):
        encoder.encode("a</s>a", untrusted=[(1, 2)])
    assert encoder.encode("axa", untrusted=[(0, 3)]) == [1, 0, 1]  # the unknown token is none


def test_a_bpe_that_never_makes_the_token_needs_no_look_at_ids() -> None:
    vocabulary = {char: k for k, char in enumerate(["<", "a", ">", "<a", "<a>", "<b>", "b"])}
    own = Tokenizer(models.BPE(vocabulary, [("<", "a"), ("<a", ">")]))
    own.add_special_tokens(["<a>", "<b>"])
    assert tokpar.Encoder(own).trusted_encoder().given_ids == {4: "<a>"}
    own.model = models.BPE(vocabulary, [("<", "a"), ("<a", ">")], ignore_merges=True)
    assert tokpar.Encoder(own).trusted_encoder().given_ids == {4: "<a>", 5: "<b>"}


def test_names_are_never_characters_of_the_text_or_the_vocabulary() -> None:
    tokenizer = Tokenizer(models.WordLevel({"\ue000": 0, "?": 1}, unk_token="?"))
    tokenizer.add_special_tokens(["<s>"])
    encoder = tokpar.Encoder(tokenizer)
    trusted = encoder.trusted_encoder()
    private = "".join(map(chr, range(0xE000, 0xF900)))
    far = "".join(map(chr, range(0xF0000, 0xFFFFE)))
    others = "".join(map(chr, range(0x40000, 0x40000 + (1 << 19), 1)))
    for text in ("\ue000", "\ue001", "<s>", private, private + far, private + far + others):
        engine = trusted.engine_for(text)
        assert not {*"".join(engine.names.values())} & {*text, "\ue000"}
        found = encoder.encode(text[-9:] + "<s>", untrusted=[])
        assert found == tokenizer.encode(text[-9:] + "<s>").ids
    assert len(trusted._engines) == 3
    everything = private + far + "".join(map(chr, range(0x40000, 0xE0000)))
    with pytest.raises(tokpar.OptionError, match="no 1 characters in a row"):
        trusted.engine_for(everything)


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("count", range(1, 7))
def test_a_row_of_names_may_end_at_a_character_of_the_text(place: int, count: int) -> None:
    zone = range(0xE000, 0xE006)
    rows = [range(first, first + count) for first in zone if first + count <= zone.stop]
    free = {row.start for row in rows if zone[place] not in row}
    found = {named_text.first_free(count, zone, chr(zone[place])) for _ in range(20)}
    assert found <= free if free else found == {None}


def test_copies_are_kept_and_closed_with_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = tokpar.Encoder(small_chat())
    trusted = encoder.trusted_encoder()
    engine = trusted.engine_for("a")
    assert trusted.engine_for("b") is engine
    closed: list[tokpar.Encoder] = []
    monkeypatch.setattr(tokpar.Encoder, "close", lambda self: closed.append(self))
    trusted.close()
    assert closed == [engine.encoder]


def test_no_token_takes_the_letter_of_a_name() -> None:
    """A token that ends with the letter of the names would hide the name behind it."""
    tokenizer = Tokenizer(models.WordLevel({"?": 0, "x": 1}, unk_token="?"))
    letters = [chr(code) for code in named_text.LETTERS]
    tokenizer.add_tokens([AddedToken("sep", normalized=False)])
    for letter in letters[:-1]:
        tokenizer.add_tokens([AddedToken(f"x{letter}", normalized=False)])
    for text in ("xsep", "x" + letters[0] + "sep"):
        found = tokpar.encode(text, tokenizer, untrusted=[], control=["sep"])
        assert found.ids.tolist() == ids_of(tokenizer, text)
    tokenizer.add_tokens([AddedToken(f"x{letters[-1]}", normalized=False)])
    with pytest.raises(tokpar.OptionError, match="leave none for names"):
        tokpar.encode("xsep", tokenizer, untrusted=[], control=["sep"])


@given(seed=st.integers(0, 1 << 32))
def test_special_tokens_of_tiktoken_count_in_trusted_text_only(seed: int) -> None:
    rng = random.Random(seed)
    specials = rng.sample(["<|a|>", "<|ab|>", "|>b", "[z]", "<|", "é!"], 3)
    encoding = encoding_of({content: 300 + k for k, content in enumerate(specials)})
    allowed = {*rng.sample(specials, rng.randint(0, 3))}
    disallowed: Any = rng.choice(["all", set()])
    settings = {"allowed_special": allowed, "disallowed_special": disallowed}
    try:
        encoder = tokpar.Encoder(tokpar.load(encoding, **settings))
        encoder.trusted_encoder()
    except tokpar.OptionError:
        return  # one special token is a prefix of another
    for _ in range(4):
        text = chat_text(rng, specials)
        spans = drawn_spans(rng, text)
        expected: list[int] | None = []
        try:
            parts = ordinary_parts(encoding, text, spans, allowed, disallowed)
        except ValueError:
            parts = None
        if parts is None:
            with pytest.raises(ValueError, match="special token"):
                encoder.encode(text, untrusted=spans)
            continue
        expected = [id_ for part in parts for id_ in part]
        assert encoder.encode(text, untrusted=spans).ids.tolist() == expected
        if not spans:
            assert expected == encoding.encode(text, **settings)


def ordinary_parts(
    encoding: tiktoken.Encoding, text: str, spans: list[Span], allowed: set[str], disallowed: Any
) -> list[list[int]]:
    """The ids between and of the special tokens that trusted runs spell."""
    runs = trusted_search.trusted_runs(spans, len(text))
    for start, stop in runs:
        encoding.encode(text[start:stop], allowed_special=allowed, disallowed_special=disallowed)
    found, at = [], 0
    while at < len(text):
        place = min(
            (
                (k, content)
                for content in allowed
                for start, stop in runs
                if (k := text.find(content, max(start, at), stop)) >= 0
            ),
            default=None,
        )
        if place is None:
            break
        found.append(encoding.encode_ordinary(text[at : place[0]]))
        found.append([encoding._special_tokens[place[1]]])
        at = place[0] + len(place[1])
    return [*found, encoding.encode_ordinary(text[at:])]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(3, 1)], "0 <= start <= stop"),
        ([(0, 99)], "count code points"),
        ([(0, 3), (2, 4)], "without overlap"),
        ([(2, 4), (0, 1)], "without overlap"),
        ([(0, 1.5)], "a pair of ints"),
        ([(True, 2)], "a pair of ints"),
        ([0, 3], "a pair of ints"),
        (["ab"], "a pair of ints"),
        (b"ab", "must be a list"),
        (7, "must be a list"),
    ],
)
def test_spans_that_cannot_be_used(spans: Any, message: str) -> None:
    with pytest.raises(tokpar.OptionError, match=message):
        tokpar.encode("Hello", untrusted=spans)


@pytest.mark.parametrize(
    ("span", "text", "counts_bytes"),
    [
        *[((0, 2), "é", True), ((0, 3), "é", False), ((0, 3), "ab", False), ((0, 5), "é中", True)],
        *[((0, 6), "é中", False), ((-1, 2), "é中", False), ((-1, 1), "é中", False)],
    ],
)
def test_spans_that_count_bytes_are_told_so(
    span: tuple[int, int], text: str, counts_bytes: bool
) -> None:
    with pytest.raises(tokpar.OptionError, match=r"0 <= start <= stop <= \d, got") as error:
        trusted_search.require_spans([span], text)
    assert (
        f"not UTF-8 bytes (of which the text has {len(text.encode())})" in str(error.value)
    ) == (counts_bytes)


@pytest.mark.parametrize(
    ("control", "message"),
    [("none", 'must be "default", "special" or a list'), (["<none>"], "no such added token")],
)
def test_control_that_cannot_be_used(control: Any, message: str) -> None:
    with pytest.raises(tokpar.OptionError, match=message):
        tokpar.encode("Hello", small_chat(), untrusted=[], control=control)


def test_a_control_token_of_the_normalized_text_is_refused_by_name() -> None:
    tokenizer = small_chat()
    tokenizer.add_tokens([AddedToken("<Late>", normalized=True)])
    assert tokpar.encode("<Late>", tokenizer, untrusted=[(0, 2)])
    from tokenizers import normalizers

    tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(tokpar.OptionError, match="'<Late>' cannot be a control token"):
        tokpar.encode("<Late>", tokenizer, untrusted=[(0, 2)])


@pytest.mark.parametrize(
    ("segments", "message"),
    [([("a",)], "a pair"), (["ab"], "a pair"), ([("a", 1)], "True or False"), ([(1, True)], "str")],
)
def test_segments_that_cannot_be_used(segments: Any, message: str) -> None:
    with pytest.raises((tokpar.OptionError, TypeError), match=message):
        tokpar.encode_segments(segments)


def test_tokenizers_that_cannot_step_over_tokens_say_so() -> None:
    with pytest.raises(tokpar.OptionError, match="untrusted text needs a tokenizer of"):
        tokpar.encode("a", tokpar.load(engine="pure"), untrusted=[])


def tokenizer_with_a_gap(id_: int) -> Tokenizer:
    """257 tokens have the ids below 257, and "zz" has the id `id_`."""
    vocabulary = {char: k for k, char in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    own = Tokenizer(models.BPE(vocabulary | {"<|end|>": 256, "zz": id_}, [("z", "z")]))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    own.add_special_tokens(["<|end|>"])
    return own


@pytest.mark.parametrize("gap", [1, 2, 50])
def test_tokens_behind_a_gap_in_the_ids_keep_their_ids(gap: int) -> None:
    own = tokenizer_with_a_gap(258 + gap)
    text = "zz <|end|> <|end|> zz"
    for spans in ([], [(3, 10)], [(0, 10)]):
        encoding = tokpar.encode(text, own, untrusted=spans)
        expected = NamedEngine(own, ["<|end|>"]).encode(text, spans)[0]
        assert encoding.ids.tolist() == expected
        assert expected.count(256) == 2 - len(spans)
        assert expected.count(258 + gap) == 2
        assert tokpar.check(encoding, text, own, untrusted=spans).ok


def test_a_token_whose_id_a_name_would_get_is_told() -> None:
    with pytest.raises(tokpar.OptionError, match="gives a new token the id of 'zz'"):
        tokpar.encode("zz <|end|>", tokenizer_with_a_gap(258), untrusted=[])


@given(seed=st.integers(0, 1 << 32))
def test_added_tokens_before_a_gap_keep_their_ids_where_a_copy_gives_names_others(
    seed: int,
) -> None:
    """A file that is read again may have added tokens before the ids that its model has last."""
    draw = random.Random(seed)
    alphabet = {char: k for k, char in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    far = draw.choice([300, 1000, 1 << 17])
    last = {"zz": far, "yy": far + draw.choice([1, 3])}
    written = Tokenizer(models.BPE(alphabet | last, [("z", "z"), ("y", "y")]))
    written.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    names = ["<|end|>", "<|go|>"]
    written.add_special_tokens([*names, *draw.sample(["zz", "yy"], draw.randint(1, 2))])
    own = Tokenizer.from_str(written.to_str())
    text = "zz <|end|> yy <|go|> <|end|>"
    for spans in ([], [(3, 10)], [(14, 20)], [(0, len(text))]):
        try:
            encoding = tokpar.Encoder(own).encode(text, untrusted=spans, control=names)
        except tokpar.OptionError:  # no copy has its ids
            continue
        expected = NamedEngine(own, names).encode(text, spans)[0]
        assert encoding.ids.tolist() == expected
