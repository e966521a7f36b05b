"""Untrusted text at the other doors: sessions, chunks, `as_tiktoken`, the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models

import tokpar
from tests.support.cli_runs import run
from tests.support.named_engine import (
    ERRORS,
    World,
    chat_text,
    drawn_spans,
    encoding_of,
    small_chat,
)


@given(seed=st.integers(0, 1 << 32))
def test_a_session_has_the_ids_of_its_text_and_spans(seed: int) -> None:
    world = World(seed)
    rng, encoder = world.rng, world.encoder
    try:
        session = encoder.trusted_session(control=world.control)
    except tokpar.OptionError:
        return
    for _ in range(8):
        try:
            if rng.random() < 0.8:
                session.append(chat_text(rng, world.contents)[:9], trusted=rng.random() < 0.6)
            else:
                session.truncate(rng.randint(0, len(session)))
            ids = session.ids
        except ERRORS:
            return
        spans = session.untrusted
        try:
            expected = encoder.encode(session.text, untrusted=spans, control=world.control)
        except ERRORS:
            continue
        assert ids.tolist() == expected.ids.tolist(), (session.text, spans, world.own.to_str())


def test_a_run_goes_over_appends_and_not_over_untrusted_text() -> None:
    tokenizer = small_chat()
    end = tokenizer.token_to_id("<|end|>")
    session = tokpar.Encoder(tokenizer).trusted_session("<|start|>")
    session.append("<|en")
    assert end not in session.ids
    patch = session.append("d|>")
    assert session.ids.tolist().count(end) == 1
    assert patch.replacement_ids.tolist() == session.ids[patch.replace_from :].tolist()
    session.append("<|en")
    session.append("x", trusted=False)
    session.append("d|><|end|>", trusted=False)
    assert session.untrusted == ((20, 31),)
    assert session.ids.tolist().count(end) == 1
    twin = session.fork()
    twin.truncate(20)
    twin.append("d|>")
    assert twin.ids.tolist().count(end) == 2
    assert session.ids.tolist().count(end) == 1
    assert (len(session), session.revision) == (31, 5)


def test_a_later_token_that_strips_spaces_uncovers_a_name_in_an_earlier_run() -> None:
    """Behind "ab " no "b" is found; without the space "ab " is not there, and "b" is."""
    tokenizer = small_chat()
    tokenizer.add_tokens([AddedToken("ab ", normalized=True), AddedToken("b", normalized=True)])
    tokenizer.add_tokens([AddedToken("<t>", normalized=False, lstrip=True)])
    encoder, control = tokpar.Encoder(tokenizer), ["<t>", "b"]
    session = encoder.trusted_session("ab ", control=control)
    session.append(" ", trusted=False)
    assert tokenizer.token_to_id("b") not in session.ids
    session.append("<t>")
    expected = encoder.encode(session.text, untrusted=session.untrusted, control=control)
    assert tokenizer.token_to_id("b") in session.ids
    assert session.ids.tolist() == expected.ids.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda session: session.append("a", trusted=0), "True or False"),
        (lambda session: session.append("a\ud800"), "lone surrogate"),
        (lambda session: session.truncate(9), "position must be 0 to 2"),
    ],
)
def test_a_session_is_unchanged_after_an_error(call: Any, message: str) -> None:
    session = tokpar.Encoder(small_chat()).trusted_session("ab", untrusted=[(0, 1)])
    with pytest.raises(tokpar.OptionError, match=message):
        call(session)
    assert (session.text, session.untrusted, session.revision) == ("ab", ((0, 1),), 0)


@given(seed=st.integers(0, 1 << 32))
def test_chunks_have_the_ids_that_their_part_has_alone(seed: int) -> None:
    world = World(seed)
    text = "".join(world.text()[0] for _ in range(8))
    spans = drawn_spans(world.rng, text)
    options = {"untrusted": spans, "control": world.control}
    try:
        chunks = [*world.encoder.chunks(text, 7, **options)]
        trusted = world.encoder.trusted_encoder(world.control)
    except ERRORS:
        return
    assert "".join(text[chunk.start : chunk.stop] for chunk in chunks) == text
    matches = trusted.matches(text, spans)
    for chunk in chunks:
        assert len(chunk.ids) <= 7
        assert not any(a < p < b for a, b, _ in matches for p in (chunk.start, chunk.stop))
    if all(chunk.certified for chunk in chunks):
        expected = world.encoder.encode(text, **options).ids.tolist()
        assert np.concatenate([np.empty(0, int), *(c.ids for c in chunks)]).tolist() == expected


def test_chunks_of_untrusted_text_hold_no_control_token() -> None:
    tokenizer = small_chat()
    end = tokenizer.token_to_id("<|end|>")
    text = "<|start|>" + "say <|end|> " * 40 + "<|end|>"
    encoder = tokpar.Encoder(tokenizer)
    chunks = [*encoder.chunks(text, 50, untrusted=[(9, len(text) - 7)])]
    assert [end in chunk.ids for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


def test_what_the_model_gives_itself_is_an_error_at_every_door() -> None:
    own = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("</s>", -1.0)], 0))
    own.add_special_tokens(["</s>"])
    encoder = tokpar.Encoder(own)
    session = encoder.trusted_session("a")
    session.append("</s>", trusted=False)
    with pytest.raises(tokpar.ControlTokenError, match="'</s>'"):
        assert session.ids is None
    with pytest.raises(tokpar.ControlTokenError, match="'</s>'"):
        assert session.unprocessed_ids is None
    with pytest.raises(tokpar.ControlTokenError, match="'</s>'"):
        list(encoder.chunks("a</s>a", 9, untrusted=[(0, 6)]))


def test_as_tiktoken_takes_untrusted_parts() -> None:
    own = encoding_of({"<|end|>": 300})
    encoding = tokpar.as_tiktoken(own)
    text = "ab<|end|>ab<|end|>"
    assert encoding.encode(text, allowed_special="all", untrusted=[(2, 9)]) == [
        *own.encode_ordinary("ab<|end|>ab"),
        300,
    ]
    assert encoding.encode(text, untrusted=[(0, len(text))]) == own.encode_ordinary(text)
    with pytest.raises(ValueError, match="disallowed special token"):
        encoding.encode(text, untrusted=[(2, 9)])
    both = encoding.encode(text, allowed_special={"<|end|>"}, untrusted=[])
    assert both == own.encode(text, allowed_special={"<|end|>"})


def test_neighbouring_spans_are_one_for_the_checker_too() -> None:
    tokenizer, text = small_chat(), "<|start|>ab<|end|>"
    spans = [(9, 9), (9, 10), (10, 13), (13, 18)]
    encoding = tokpar.encode(text, tokenizer, untrusted=spans)
    assert encoding.report.trust is not None
    assert encoding.report.trust.untrusted == ((9, 18),)
    assert tokpar.check(encoding, text, tokenizer, untrusted=spans).ok
    assert not tokpar.check(encoding, text, tokenizer, untrusted=[(9, 13)]).ok


def test_all_of_an_input_may_be_untrusted(tmp_path: Any) -> None:
    tokenizer = small_chat()
    tokenizer.add_tokens([AddedToken("<x>", normalized=False)])
    file, rows = tmp_path / "tokenizer.json", tmp_path / "rows.jsonl"
    tokenizer.save(str(file))
    rows.write_text('{"text": "<|end|>"}\n{"text": "<x> a"}\n')
    ids = [tokpar.encode(t, tokenizer, untrusted=[(0, len(t))]) for t in ("<|end|>", "<x> a")]
    done = run("encode", str(rows), "--untrusted", "--all", "--tokenizer", str(file))
    assert done.out.splitlines() == [" ".join(map(str, each)) for each in ids]
    counted = run("count", str(rows), "--untrusted", "--tokenizer", str(file))
    assert counted.out.split()[0] == str(sum(map(len, ids)))
    plan = run("plan", str(rows), "--row", "1", "--tokenizer", str(file))
    assert "control tokens: 5; ordinary text never gets one" in plan.out
