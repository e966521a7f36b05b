"""Placeholders that are repeated on ids, against full encodes of the text with all copies."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers

import tokpar
from tests.conftest import drawn
from tests.sessions.traces import check_edges, ids_of, small_segments
from tests.support.adapters_drawn import contents_of, drawn_adapter, drawn_text
from tests.support.fakes import WordHash
from tests.support.session_models import token
from tests.support.tokenizers_drawn import is_panic
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.errors import EngineError, OptionError
from tokpar.sessions.session import Session

pytestmark = pytest.mark.ids

IMAGE = token("<img>")


def made(*tokens: AddedToken, normalizer: Any = None) -> Tokenizer:
    """Letters, merges that reach over the edges of the tokens, and these added tokens."""
    merges = [("a", "b"), ("b", "<"), (">", "b"), ("a", "a")]
    atoms = [*"abegim<> \u0301", *(left + right for left, right in merges)]
    numbered = {atom: id_ for id_, atom in enumerate(atoms)}
    tokenizer = Tokenizer(models.BPE(vocab=numbered, merges=merges))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_tokens([*tokens])
    return tokenizer


def expanded_text(session: Session) -> str:
    """The text of a session, each placeholder as often as its id stands there."""
    return "".join(
        row.text if row.data is None else row.text * row.count for row in session._state.all_rows
    )


def check_placeholders(rng: random.Random, adapter: TokenizerAdapter, seen: Counter[str]) -> None:
    """One drawn text with placeholders: ids and places, then an append to a fork."""
    numbers = {added.content: added.id for added in facts_of(adapter).added_tokens}
    content = rng.choice([*sorted(numbers), "<img>"])
    tokens = (*contents_of(adapter), content, content)
    session = tokpar.Encoder(adapter).session(drawn_text(rng, tokens, 6))
    session.append(drawn_text(rng, tokens, 12))
    own = session.unprocessed_ids
    counts = np.where(own == numbers.get(content, -1), rng.choice((1, 2, 3, 9)), 1)
    try:
        spans = session.char_spans
        given = counts[own == numbers.get(content, -1)].tolist()
        patch = session.replace_ids(rng.choice((content, numbers.get(content, -1))), given)
    except (OptionError, LookupError):
        seen["refused"] += 1
        assert np.array_equal(session.unprocessed_ids, own)
        return
    seen["expanded"] += counts.max(initial=1) > 1
    found, text = session.unprocessed_ids.tolist(), expanded_text(session)
    assert found == np.repeat(own, counts).tolist() == ids_of(adapter, text), session.text
    assert own[: patch.replace_from].tolist() + patch.replacement_ids.tolist() == found
    assert session.char_spans.tolist() == np.repeat(spans, counts, 0).tolist()
    check_edges(session)
    fork, more = session.fork(), drawn_text(rng, tokens, 3)
    fork.append(more)
    seen["appended"] += counts.max(initial=1) > 1
    seen["others"] += fork.unprocessed_ids.tolist() != ids_of(adapter, text + more)
    assert session.unprocessed_ids.tolist() == found


def drawn_collisions(rng: random.Random) -> TokenizerAdapter:
    """A tokenizer with added tokens of few letters, which overlap each other and their copies."""
    contents = {"".join(rng.choices("ab<", k=rng.randint(1, 4))) for _ in range(4)}
    tokens = (token(each, single_word=rng.random() < 0.1) for each in sorted(contents))
    return tokpar.load(made(*tokens))


def test_placeholders_of_drawn_tokenizers_have_the_ids_of_all_copies() -> None:
    seen, rng = Counter[str](), random.Random("placeholders")
    while seen["tokenizers"] < drawn(300):
        try:
            adapter = rng.choice((drawn_adapter, drawn_collisions))(rng)
            seen["tokenizers"] += 1
            for reach in (1, 2, 4, 8):
                with small_segments(2, reach):  # so that segments are divided, too
                    check_placeholders(rng, adapter, seen)
        except (OptionError, EngineError):
            continue
        except BaseException as error:
            if not is_panic(error):
                raise
    assert seen["expanded"] > drawn(15)
    assert seen["refused"] > drawn(15)


def test_turns_with_pictures_and_sampled_answers() -> None:
    """Each turn repeats its own placeholders; what a model sampled, and older ones, stay."""
    encoder = tokpar.Encoder(made(IMAGE))
    [image], sampled = ids_of(encoder.tokenizer, "<img>"), ids_of(encoder.tokenizer, "a<img>b")
    session = encoder.session("ab<img>b ab <img>")
    patch = session.replace_ids("<img>", [3, 2])
    assert (patch.replace_from, patch.encoded, patch.revision) == (1, 0, 1)
    session.pin(sampled, "a<img>b")
    session.append(" <img> ab")
    whole = ids_of(encoder.tokenizer, "ab" + "<img>" * 3 + "b ab " + "<img>" * 2)
    for each in (session.fork(), encoder.session_from_bytes(session.to_bytes())):
        each.replace_ids(image, np.array([4]), revision=session.revision)
        own = ids_of(encoder.tokenizer, " " + "<img>" * 4 + " ab<")
        each.update(each.text + "<")
        assert each.unprocessed_ids.tolist() == whole + sampled + own
        assert each.text == "ab<img>b ab <img>a<img>b <img> ab<"
        assert each.char_spans[1:4].tolist() == [[2, 7]] * 3
        last = [[24, 25], *[[25, 30]] * 4, [30, 31], [31, 33], [33, 34]]
        assert each.char_spans[-8:].tolist() == last
        assert each.canonical[1].state == "given"
        with pytest.raises(OptionError, match="ends with pinned ids"):
            each.truncate(3)
        assert each.replace_ids("<img>", []).replace_from == len(each.unprocessed_ids)


@pytest.mark.parametrize(
    ("tokens", "normalizer", "text", "repeated", "why"),
    [
        ((token("aa"), token("aaa")), None, "b aa", "aa", "side by side hold or touch another"),
        ((IMAGE, token("><")), None, "a<img>", "<img>", "side by side hold or touch another"),
        ((token("img", single_word=True),), None, " img", "img", "single word only"),
        (
            (AddedToken("a", normalized=True),),
            normalizers.Replace("aa", "b"),
            "a",
            "a",
            "searched in the normalized text",
        ),
        ((token("ab"),), normalizers.Lowercase(), "AB ab", "ab", "2 times, but only 1 of its"),
        ((IMAGE, token(">b")), None, "a<img>b", "<img>", "1 times, but only 0 of its places"),
    ],
)
def test_a_placeholder_whose_neighbours_may_see_it_is_refused(
    tokens: Sequence[AddedToken], normalizer: Any, text: str, repeated: str, why: str
) -> None:
    """Repeated ids would be right in the texts that begin with "a<", and wrong in the others."""
    adapter = tokpar.load(made(*tokens, normalizer=normalizer))
    session = tokpar.Encoder(adapter).session(text)
    own, id_ = ids_of(adapter, text), ids_of(adapter, repeated)[0]
    repeated_ids = [i for each in own for i in [each] * (2 if each == id_ else 1)]
    wrong = repeated_ids != ids_of(adapter, text.replace(repeated, 2 * repeated))
    assert wrong != text.startswith("a<")
    with pytest.raises(OptionError, match=why):
        session.replace_ids(repeated, 2)
    assert (session.unprocessed_ids.tolist(), session.revision) == (own, 0)


def test_arguments_that_cannot_be_used() -> None:
    session = tokpar.Encoder(made(IMAGE)).session("a<img>")
    wrong: list[tuple[str, Any, Any]] = [
        ("'a' is no added token of", "a", 2),
        ("id or the content of an added token, got float", 1.0, 2),
        ("id or the content of an added token, got bool", True, 2),
        ("n must be an int of at least 1, got 0", "<img>", 0),
        ("n must be an int of at least 1, got '3'", "<img>", "3"),
        ("n must be an int of at least 1, got 1.5", "<img>", [1.5]),
        ("n has 2 counts, and the text 1 placeholders", "<img>", [2, 2]),
    ]
    for why, repeated, n in wrong:
        with pytest.raises(OptionError, match=why):
            session.replace_ids(repeated, n)
    with pytest.raises(OptionError, match="revision 3 of the session"):
        session.replace_ids("<img>", 2, revision=3)
    with pytest.raises(OptionError, match="no id of word hash can be repeated: nothing is known"):
        tokpar.Encoder(WordHash()).session("a").replace_ids("a", 2)
