"""Checks of `facts`: what a tokenizer says about itself must agree with what it does.

Proofs rest on facts. A wrong fact gives wrong ids with a certificate that passes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product

import numpy as np

from tokpar.arrays import SPACES, IdArray, SpanArray
from tokpar.contract.interfaces import (
    Decodes,
    HasFacts,
    Locates,
    TokenizerAdapter,
    facts_of,
)
from tokpar.cuts.finder import finder_for
from tokpar.formats.char_classes import single
from tokpar.types import AddedToken, Facts
from tokpar_conformance.checks import Check, Complaint, SetAsideError, check
from tokpar_conformance.compare import (
    contradictions,
    cuts_complaint,
    ids_differ,
    ids_of,
    spans_complaint,
)
from tokpar_conformance.differing import show_text, token

MOST_ADDED = 12  # added tokens that are tried between other texts; a vocabulary may have hundreds
Added = Sequence[AddedToken]
AROUND = ("", " ", "a", "  ", "\n", ".", " b")


def facts_checks(tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """Checks of the facts that a few texts can refute. The module `strategy` checks the certified
    cuts that follow from the other facts."""
    if not isinstance(tokenizer, HasFacts):
        return
    facts = tokenizer.facts
    yield fit_together.of(tokenizer)
    if facts.unprovable is None:
        yield pairs.of(tokenizer)
    moved = facts.normalizers and any(each.normalized for each in facts.added_tokens)
    known = facts.unprovable is None and facts.scheme in ("regex", "whole", "bert")
    if facts.added_tokens and known and not moved:  # the text between them is encoded alone
        yield added_tokens.of(tokenizer)
    strips = any(each.lstrip or each.rstrip for each in facts.added_tokens)
    changed = facts.normalizers or facts.prefix_space or strips or facts.unprovable is not None
    changed = changed or facts.scheme == "spaces"  # stages of this scheme may drop spaces
    if facts.byte_level and not changed and isinstance(tokenizer, Decodes):
        yield round_trip.of(tokenizer)
    if facts.tiles and isinstance(tokenizer, Locates):
        yield tiles.of(tokenizer, {each.id: each.content.encode() for each in facts.added_tokens})
        yield longest_token.of(tokenizer)
        if facts.tokens is not None:
            yield tokens.of(tokenizer)


@check("facts", takes_all_texts=True)
def fit_together(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """facts fit together, and are the same object each time (proofs are kept by identity)"""
    facts = facts_of(tokenizer)
    if not isinstance(facts, Facts):
        return Complaint("facts are no Facts", "tokpar.types.Facts", type(facts).__name__)
    if facts.unprovable is None and facts_of(tokenizer) is not facts:
        return Complaint("facts are another object on each access", "one object", "several")
    rules = (
        (not facts.tiles or facts.byte_level, "tiles=True needs byte_level=True"),
        (not (facts.tiles and facts.normalizers), "tiles=True with a normalizer"),
        (not facts.tiles or isinstance(tokenizer, Locates), "tiles=True needs locate(ids, text)"),
        (not facts.sizes or facts.normalizers, "sizes are for tokenizers with a normalizer"),
        (isinstance(facts.first_prefix, bool), "first_prefix is a bool"),
    )
    return contradictions(rules)


@check("facts.pairs")
def pairs(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """a regex tokenizer is cut where pairs of characters say that its patterns cut (theorem 40)"""
    known = finder_for(facts_of(tokenizer)).pairs
    return None if known is None else cuts_complaint(tokenizer, text, known.certify)


@check("facts.byte_level")
def round_trip(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """nothing of a text is lost: decode(encode(text)) == text"""
    assert isinstance(tokenizer, Decodes)
    back = tokenizer.decode(ids_of(tokenizer, text).tolist())
    same = back == text
    return None if same else Complaint("other text came back", show_text(text), show_text(back))


@check("facts.tiles")
def tiles(
    tokenizer: TokenizerAdapter, bytes_by_id: dict[int, bytes], text: str
) -> Complaint | None:
    """the tokens' bytes, in order, are the text's UTF-8 bytes, and an id always has the same"""
    ids, spans = _locate(tokenizer, text)
    whole, place = text.encode(), 0
    for k, (id_, (start, stop)) in enumerate(zip(ids.tolist(), spans.tolist(), strict=True)):
        if start != place or stop <= start:
            return Complaint(f"span of id {k:,}", f"[{place}, more)", f"[{start}, {stop})")
        place = stop
        held = whole[start:stop]
        own = _bytes_of(tokenizer, id_, bytes_by_id)
        if own is not None and own != held:
            return Complaint(f"bytes of id {k:,}, {token(tokenizer, id_)}", repr(own), repr(held))
    if place != len(whole):
        return Complaint("the last token ends early", f"{len(whole)} bytes", f"{place} bytes")
    return None


@check("facts.longest_token")
def longest_token(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """no token of the model is longer, in UTF-8 bytes (the window lemma, theorem 5)"""
    longest = facts_of(tokenizer).longest_token
    for id_, held in _of_the_model(tokenizer, text):
        if len(held) > longest:
            said = f"{token(tokenizer, id_)}, {len(held)} bytes"
            return Complaint("a longer token", f"at most {longest} bytes", said)
    return None


@check("facts.tokens")
def tokens(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """tokens() holds the bytes of every token of the model (theorem 31)"""
    facts = facts_of(tokenizer)
    assert facts.tokens is not None
    listed = facts.tokens()
    for id_, held in _of_the_model(tokenizer, text):
        if held not in listed:
            said = f"{token(tokenizer, id_)}, {held!r}"
            return Complaint("neither in tokens() nor an added token", got=said)
    return None


def _of_the_model(tokenizer: TokenizerAdapter, text: str) -> Iterator[tuple[int, bytes]]:
    """Each id of the text that is no added token, with its UTF-8 bytes in the text."""
    added = {each.id for each in facts_of(tokenizer).added_tokens}
    ids, spans = _locate(tokenizer, text)
    whole = text.encode()
    for id_, (start, stop) in zip(ids.tolist(), spans.tolist(), strict=True):
        if id_ not in added:
            yield id_, whole[start:stop]


@check("facts.added_tokens", takes_all_texts=True)
def added_tokens(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """added tokens are found where their flags say, and what is between them is encoded alone
    (theorem 6.1)"""
    facts = facts_of(tokenizer)
    listed = None if facts.tokens is None else facts.tokens()
    for each in facts.added_tokens[:MOST_ADDED]:
        by_model = listed is None or each.content.encode() in listed
        for left, right in product((*AROUND, each.content), repeat=2):
            text = left + each.content + right
            wrong = _placement_complaint(tokenizer, facts.added_tokens, each, text, by_model)
            if wrong is not None:
                return wrong
    return None


def _placement_complaint(
    tokenizer: TokenizerAdapter, added: Added, each: AddedToken, text: str, by_model: bool
) -> Complaint | None:
    try:
        got, segments = ids_of(tokenizer, text), _segments(added, text)
        parts = [_part(tokenizer, added, segment) for segment in segments]
    except SetAsideError:
        return None
    expected = np.concatenate([np.zeros(0, np.uint32), *parts])
    wrong = ids_differ(expected.astype(np.uint32), got, text, tokenizer)
    found = int((got == each.id).sum())
    if wrong is None and not by_model and found != segments.count(each.id):
        wrong = Complaint(f"id {each.id}", f"{segments.count(each.id)} times", f"{found} times")
    if wrong is None:
        return None
    return Complaint(
        f"{each.content!r} in {show_text(text)}: {wrong.what}", wrong.expected, wrong.got, text
    )


def _segments(added: Added, text: str) -> list[str | int]:
    """The text between added tokens, and the ids of added tokens: "a<s>b" -> ["a", 1, "b"].

    The tokens with normalized=True are searched in what the others leave."""
    segments: list[str | int] = [text]
    for late in (False, True):
        tokens = {each.content: each for each in added if each.normalized == late}
        parts = [[part] if isinstance(part, int) else _divide(part, tokens) for part in segments]
        segments = [*chain(*parts)]
    return segments


def _divide(text: str, tokens: Mapping[str, AddedToken]) -> list[str | int]:
    """The text without these tokens, and their ids: the leftmost, of several the longest."""
    word, found, end = single("word").match, list[str | int](), 0
    pattern = "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))
    for match in re.finditer(pattern, text) if tokens else ():
        token, (start, stop) = tokens[match[0]], match.span()
        if token.single_word and (word(text[start - 1 : start]) or word(text[stop : stop + 1])):
            continue
        if token.lstrip:
            start = end + len(text[end:start].rstrip(SPACES))
        if token.rstrip:
            stop = len(text) - len(text[stop:].lstrip(SPACES))
        if start > stop:  # the engine panics, too
            raise SetAsideError
        found += [text[end:start], *([token.id] if start < stop else [])]
        end = stop
    return [part for part in (*found, text[end:]) if part != ""]


def _part(tokenizer: TokenizerAdapter, added: Added, segment: str | int) -> IdArray:
    """The ids of a segment that is encoded alone.

    Raises SetAsideError if an added token is found in the segment alone but not in the whole
    text; an added token with single_word=True can be, at the edge of the segment."""
    if isinstance(segment, int):
        return np.array([segment], dtype=np.uint32)
    if _segments(added, segment) != [segment]:
        raise SetAsideError
    return ids_of(tokenizer, segment)


def _locate(tokenizer: TokenizerAdapter, text: str) -> tuple[IdArray, SpanArray]:
    """The ids and the spans of a text. Raises ValueError if the spans are not well-formed."""
    assert isinstance(tokenizer, Locates)
    ids = ids_of(tokenizer, text)
    spans = tokenizer.locate(ids, text)
    wrong = spans_complaint(spans, ids, text)
    if wrong is not None:
        raise ValueError(f"{wrong.what}: {wrong.expected} expected, got {wrong.got}")
    return ids, spans


def _bytes_of(tokenizer: TokenizerAdapter, id_: int, bytes_by_id: dict[int, bytes]) -> bytes | None:
    """The UTF-8 bytes of one id, decoded alone and kept in `bytes_by_id`. None if the tokenizer
    does not decode, or if the bytes are not whole characters."""
    if id_ not in bytes_by_id and isinstance(tokenizer, Decodes):
        decoded = tokenizer.decode([id_])
        if "\ufffd" in decoded:
            return None
        bytes_by_id[id_] = decoded.encode()
    return bytes_by_id.get(id_)
