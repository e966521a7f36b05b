"""A session against full encodes: its verbs, its patches, its work, and what it refuses."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.conftest import drawn
from tests.sessions.traces import check_edges, check_pins, ids_of, small_segments
from tests.support.adapters_drawn import drawn_adapter
from tests.support.fakes import WordHash
from tests.support.seams import part
from tests.support.tokenizers_drawn import named_tokenizers
from tokpar.contract.adapter import token_bytes_of
from tokpar.contract.interfaces import Decodes, facts_of
from tokpar.cuts.stable_cuts import stable_cuts_for
from tokpar.errors import FileFormatError, OptionError
from tokpar.sessions import editing
from tokpar.sessions.common_ends import common_prefix, common_suffix
from tokpar.sessions.pins import context_of
from tokpar.sessions.rope import segments_after

pytestmark = pytest.mark.ids

PROSE = "It's 1,234 words of\n\nplain  prose, and 中文字 too — e\u0301t cetera. "


def encoder_of(name: str, **settings: Any) -> tokpar.Encoder:
    tokenizer = named_tokenizers()[name]
    if hasattr(tokenizer, "encode_ordinary"):
        settings["disallowed_special"] = ()
    return tokpar.Encoder(tokpar.load(tokenizer, **settings))


@pytest.fixture(name="_short_segments")
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are as short with the compiled call as without it."""
    monkeypatch.setattr(editing, "COMPILED_SEGMENT", editing.SEGMENT)


# -------------------------------------------------------------------------------- equality


def test_pins_of_drawn_tokenizers_have_the_ids_of_the_definition() -> None:
    seen: Counter[str] = Counter()
    rng = random.Random("pins")
    while seen["pins"] < drawn(300):
        adapter = drawn_adapter(rng)
        if token_bytes_of(adapter) is not None and facts_of(adapter).byte_level:
            check_pins(rng, adapter, seen)
    assert seen["regions"] > drawn(100)


@pytest.mark.parametrize("name", ["cl100k_part", "deepseek_part"])
def test_pins_on_parts_of_real_vocabularies(name: str) -> None:
    seen: Counter[str] = Counter()
    rng = random.Random(name)
    for _ in range(drawn(10)):
        check_pins(rng, encoder_of(name).tokenizer, seen)
    assert seen["rows after pins"] > drawn(5)


def test_a_tokenizer_that_tells_nothing_is_encoded_whole_and_says_so() -> None:
    session = tokpar.Encoder(WordHash()).session("one two three")
    patch = session.append(" four")
    assert patch.encoded == len("one two three four")
    assert "tells no facts" in patch.why
    expected = np.asarray(WordHash().encode("one two three four")).tolist()
    assert session.unprocessed_ids.tolist() == expected


def test_truncation_padding_and_special_tokens_are_those_of_the_own_call() -> None:
    tokenizer: Tokenizer = Tokenizer.from_str(part("bert_part").to_str())
    tokenizer.enable_truncation(12)
    tokenizer.enable_padding(length=16)
    session = tokpar.Encoder(tokenizer).session()
    for text in ("a few words", ", then more of them, and more", " and even more" * 4):
        session.append(text)
        assert session.ids.tolist() == tokenizer.encode(session.text).ids


@pytest.mark.usefixtures("_short_segments")
def test_texts_of_one_version_are_shared_by_forks() -> None:
    session = encoder_of("cl100k_part").session(PROSE * 40)
    fork = session.fork()
    session.append("one way")
    fork.append("another way")
    for each in (session, fork):
        assert each.unprocessed_ids.tolist() == ids_of(session._tokenizer, each.text)
    assert session._state.rope.left.left is fork._state.rope.left.left  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------ work


@pytest.mark.usefixtures("_short_segments")
@pytest.mark.parametrize("name", ["cl100k_part", "deepseek_part", "bert_part", "llama_style"])
def test_an_edit_encodes_its_neighbourhood_whatever_the_length(name: str) -> None:
    encoder = encoder_of(name)
    for size in (200, 2000):
        session = encoder.session(PROSE * size)
        middle = len(session) // 2
        patches = [
            session.append("and more of it"),
            session.replace(middle, middle + 1, "X"),
            session.replace(middle, middle, "\u0301"),
            session.replace(middle, middle, "\r"),
            session.update(session.text[:-50] + "changed" + session.text[-40:]),
            session.truncate(len(session) - 5),
        ]
        assert max(patch.encoded for patch in patches) < 1500
        assert session.unprocessed_ids.tolist() == ids_of(encoder.tokenizer, session.text)


@pytest.mark.usefixtures("_short_segments")
def test_appends_of_single_characters_leave_long_segments() -> None:
    session = encoder_of("cl100k_part").session()
    for char in PROSE * 20:
        session.append(char)
    segments = list(segments_after(session._state.rope, 0))
    assert len(segments) < len(session) / 100
    assert session.unprocessed_ids.tolist() == ids_of(session._tokenizer, PROSE * 20)


# --------------------------------------------------------------------------------- refused


@pytest.mark.usefixtures("_short_segments")
def test_a_sum_encodes_the_characters_near_the_seam_only() -> None:
    encoder = tokpar.Encoder()
    parts = [encoder.session(f"Document {k}. " + "One sentence of it. " * 500) for k in range(20)]
    whole = encoder.session()
    for each in parts:
        assert whole.append(each).encoded < 600
    assert whole.ids.tolist() == encoder.encode("".join(part.text for part in parts)).ids.tolist()


def test_a_session_of_another_tokenizer_or_with_pins_is_not_appended() -> None:
    session = tokpar.Encoder().session("one ")
    other = encoder_of("bert_part").session("two")
    with pytest.raises(OptionError, match="those of another tokenizer; append its text instead"):
        session.append(other)
    pinned = tokpar.Encoder().session()
    pinned.pin([1, 2])
    with pytest.raises(OptionError, match="a session with pinned ids cannot be appended"):
        session + pinned
    with pytest.raises(TypeError):
        session + "two"  # type: ignore[operator]
    assert (session.text, session.revision) == ("one ", 0)
    session.append(tokpar.Encoder().session("two"))  # an equal tokenizer of another object
    assert session.unprocessed_ids.tolist() == ids_of(tokpar.Encoder().tokenizer, "one two")


def test_what_is_refused_leaves_the_session_as_it_was() -> None:
    session = encoder_of("cl100k_part").session("some text")
    session.append(", more")
    before = (session.text, session.unprocessed_ids.tolist(), session.revision)
    one = ids_of(session._tokenizer, "a")
    wrong: list[tuple[str, Any]] = [
        ("lone surrogate, got '\\\\ud83e' at code point 3", lambda: session.append("abc\ud83e")),
        ("lone surrogate", lambda: session.update("a\udc00")),
        ("0 <= start <= stop <= 15", lambda: session.replace(3, 2, "")),
        ("0 <= start <= stop <= 15", lambda: session.replace(0, 16, "")),
        ("0 <= start <= stop <= 15", lambda: session.truncate(-1)),
        ("start must be an int, got str", lambda: session.truncate("1")),  # type: ignore[arg-type]
        ("text must be a str, got bytes", lambda: session.append(b"a")),  # type: ignore[arg-type]
        ("revision 0 of the session, which is at revision 1",
         lambda: session.append("x", revision=0)),
        ("no bytes of its own", lambda: session.pin([10**6])),
        ("the ids of the pin spell b'a'", lambda: session.pin(one, "b")),
        ("a sequence of ids", lambda: session.pin("abc")),  # type: ignore[arg-type]
        ("below 2", lambda: session.pin([-1])),
    ]  # fmt: skip
    for message, call in wrong:
        with pytest.raises(OptionError, match=message):
            call()
        assert (session.text, session.unprocessed_ids.tolist(), session.revision) == before


def test_an_edit_of_pinned_text_is_refused() -> None:
    session = encoder_of("cl100k_part").session("some ")
    session.pin(ids_of(session._tokenizer, "text"))
    session.append(" more")
    with pytest.raises(OptionError, match="up to code point 9 ends with pinned ids"):
        session.truncate(3)
    with pytest.raises(OptionError, match="up to code point 9 ends with pinned ids"):
        session.update("some other")
    assert session.update("some text, more").revision == 3
    assert session.truncate(9).replacement_ids.tolist() == []


def test_a_tokenizer_without_token_bytes_needs_the_text_of_a_pin() -> None:
    session = encoder_of("bert_part").session("some")
    ids = ids_of(session._tokenizer, "text")
    with pytest.raises(OptionError, match=r"pass pin\(ids, text=...\)"):
        session.pin(ids)
    session.pin(ids, " text")
    assert session.text == "some text"


def test_a_session_keeps_its_tokenizer_and_refuses_a_model_that_changed_under_it() -> None:
    tokenizer: Tokenizer = Tokenizer.from_str(part("deepseek_part").to_str())
    session = tokpar.Encoder(tokenizer).session("one")
    before = tokenizer.encode("onetwo").ids
    tokenizer.add_tokens([AddedToken("two")])
    session.append("two")
    assert session.ids.tolist() == before
    tokenizer.model.ignore_merges = not tokenizer.model.ignore_merges
    with pytest.raises(tokpar.ChangedError, match="make a new one"):
        session.append("three")
    assert session.text == "onetwo"


def test_threads_edit_one_after_the_other() -> None:
    session = encoder_of("cl100k_part").session()
    refused: list[OptionError] = []

    def work(name: str) -> None:
        for number in range(20):
            session.append(f"{name} {number}, ")
            try:
                session.append("stale", revision=0)
            except OptionError as error:
                refused.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.revision == 80
    assert len(refused) == 80
    assert session.unprocessed_ids.tolist() == ids_of(session._tokenizer, session.text)


# -------------------------------------------------------------------------------- as bytes


def pinned_session() -> Any:
    session = encoder_of("cl100k_part").session(PROSE * 12)
    session.pin(ids_of(session._tokenizer, " hel"))
    session.append("lo, " + PROSE)
    return session


def test_a_session_comes_back_from_bytes_and_goes_on() -> None:
    for session in (encoder_of("cl100k_part").session(PROSE * 12), pinned_session()):
        encoder = encoder_of("cl100k_part")
        again = encoder.session_from_bytes(session.to_bytes())
        for each in (session, again):
            each.append("and on")
            each.replace(len(each) - 3, len(each), "\u0301")
        assert again.text == session.text
        assert again.unprocessed_ids.tolist() == session.unprocessed_ids.tolist()
        assert again.canonical == session.canonical
        assert again.revision == session.revision


@pytest.mark.parametrize("name", ["cl100k_part", "llama_style", "bert_part"])
def test_a_blob_whose_segments_end_elsewhere_goes_on_with_the_right_ids(name: str) -> None:
    """An earlier release kept segments between cuts that were certified in their text only."""
    encoder = encoder_of(name)
    with small_segments(2, 3):
        blob = encoder.session(PROSE).to_bytes()
    for place in range(len(PROSE)):
        session = encoder.session_from_bytes(blob)
        check_edges(session)
        session.replace(place, place, "x")
        expected = ids_of(encoder.tokenizer, PROSE[:place] + "x" + PROSE[place:])
        assert session.unprocessed_ids.tolist() == expected


def test_a_blob_that_is_cut_changed_or_of_another_tokenizer_is_refused() -> None:
    blob = pinned_session().to_bytes()
    encoder = encoder_of("cl100k_part")
    for wrong in (blob[:-1], blob[:200], blob[:90] + b"?" + blob[91:], b"", blob + b"x"):
        with pytest.raises(FileFormatError, match="saved session"):
            encoder.session_from_bytes(wrong)
    with pytest.raises(FileFormatError, match="saved with another tokenizer"):
        encoder_of("o200k_part").session_from_bytes(blob)
    with pytest.raises(OptionError, match="no fingerprint"):
        tokpar.Encoder(WordHash()).session("a").to_bytes()


# ------------------------------------------------------------------------------------ parts


def test_common_ends_are_those_found_character_by_character() -> None:
    rng = random.Random("ends")
    with mock.patch("tokpar.sessions.common_ends._BLOCK", 4):
        for _ in range(drawn(2000)):
            one, other = (
                "".join(rng.choice("ab中😀") for _ in range(rng.randint(0, 9))) for _ in range(2)
            )
            one = rng.choice((one, other)) + one
            pairs = zip(one, other, strict=False)
            start = next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
            most = min(len(one), len(other)) - start
            back = zip(one[::-1][:most], other[::-1][:most], strict=True)
            stop = next((k for k, (a, b) in enumerate(back) if a != b), most)
            assert (common_prefix(one, other), common_suffix(one, other, most)) == (start, stop)


# ---------------------------------------------------------------------------- published bugs


@pytest.mark.parametrize(
    ("pin", "text", "by"),
    [(" hel", "lo", "P1"), ("12", "345", "P1"), ("x ", "y", "P1"), (" a", " dog", "P2")],
)
def test_texts_after_pins_by_the_rule_of_theorem_38(pin: str, text: str, by: str) -> None:
    adapter = encoder_of("cl100k_part").tokenizer
    session = tokpar.Encoder(adapter).session()
    before = ids_of(adapter, pin)
    session.pin(before)
    session.append(text)
    both = ids_of(adapter, pin + text)
    assert (both[: len(before)] == before) == (by == "P2")
    own = both[len(before) :] if by == "P2" else ids_of(adapter, text)
    assert session.unprocessed_ids.tolist() == before + own
    states = {region.state for region in session.canonical}
    assert states == ({"canonical"} if by == "P2" else {"given"})


def test_a_session_appended_twice_after_a_pin_by_rule_p1() -> None:
    """The text after the pin is encoded by itself, so the second sum adds to these ids."""
    encoder = encoder_of("cl100k_part")
    session = encoder.session()
    pin = ids_of(encoder.tokenizer, " hel")
    session.pin(pin)
    for text in ("lo", "lolo", "lololo"):
        session.append(encoder.session("lo"))
        assert session.text == " hel" + text
        assert session.unprocessed_ids.tolist() == pin + ids_of(encoder.tokenizer, text)


def test_half_a_character_is_completed_by_the_next_pin() -> None:
    """🫠 sampled in parts: no claim as long as a part is missing, never by U+FFFD."""
    adapter = encoder_of("cl100k_part").tokenizer
    ids = ids_of(adapter, "🫠")
    session = tokpar.Encoder(adapter).session("see ")
    session.pin(ids[:1])
    assert "\ufffd" not in session.text
    assert session.canonical[-1].state == "undecidable"
    session.pin(ids[1:])
    assert session.text == "see 🫠"
    assert session.unprocessed_ids.tolist() == [*ids_of(adapter, "see "), *ids]


def test_text_after_half_a_character_is_not_the_beginning_of_a_text() -> None:
    """The cut before " b" is sure at the beginning of a text. What follows half a character may
    go on with a token that begins before it."""
    cuts = stable_cuts_for(facts_of(tokpar.load(part("deepseek_part"))))
    assert context_of(cuts, "a b") == " b"
    assert context_of(cuts, "\udc80a b") == ""


def test_a_finished_message_is_final_at_its_very_end() -> None:
    """Nothing of the ids up to an added token at the end is replaced by what follows."""
    encoder = encoder_of("deepseek_part")
    token = encoder.tokenizer.facts.added_tokens[0].content  # type: ignore[attr-defined]
    session = encoder.session(f"a message{token}")
    for more in (" more", "s", "\u0301", "\n", token):
        fork, count = session.fork(), len(session.unprocessed_ids)
        assert fork.append(more).replace_from == count
        assert fork.unprocessed_ids.tolist() == ids_of(encoder.tokenizer, session.text + more)


def test_an_adapter_that_inherits_token_bytes_without_a_body_tells_no_bytes() -> None:
    """The stub of the interface returns None, which is not the length of a token."""

    class Inherits(Decodes):
        name = "inherits"

        def decode(self, ids: Sequence[int]) -> str:
            return ""

        def encode(self, text: str) -> np.ndarray[Any, Any]:
            return np.zeros(0, np.uint32)

    assert token_bytes_of(Inherits()) is None
