"""Checks of the other abilities of an adapter, as far as it has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from tokpar.cuts.finder import finder_for
from tokpar.interfaces import (
    ChecksText,
    Decodes,
    EncodesWhole,
    Locates,
    Remembers,
    TokenizerAdapter,
    facts_of,
)
from tokpar.loading import Detaches, Refreshes
from tokpar.testing.checks import Check, Complaint, outcome
from tokpar.testing.compare import array_complaint, ids_differ, ids_of, spans_complaint
from tokpar.testing.finishing import finish_checks


def ability_checks(tokenizer: TokenizerAdapter, source: object) -> Iterator[Check]:
    """One check or more for each ability the tokenizer has; `source` is what it was loaded from."""
    if isinstance(tokenizer, Locates):
        yield Check(
            "locate",
            "locate gives one span per id: int64, UTF-8 bytes of the text, in order",
            partial(locate, tokenizer),
        )
    if isinstance(tokenizer, Decodes):
        yield Check("decode", "decode gives a str, the same each time", partial(decode, tokenizer))
    yield from finish_checks(tokenizer)
    if isinstance(tokenizer, ChecksText):
        yield from _refusal_checks(tokenizer)
    if isinstance(tokenizer, Remembers) and tokenizer.remembers:
        yield Check(
            "remembered",
            "of texts that may be cut at every space it gives the ids of encode, or None",
            partial(remembered, tokenizer),
            together=True,
        )
    if isinstance(tokenizer, Refreshes):
        yield Check(
            "refreshed",
            "refreshed() is the tokenizer itself while nothing changed",
            partial(refreshed, tokenizer),
            together=True,
        )
    if isinstance(tokenizer, Detaches) and source is not tokenizer:
        yield Check(
            "detached",
            "detached().attached(source) encodes as before",
            partial(detached, tokenizer, source),
        )


def _refusal_checks(tokenizer: TokenizerAdapter) -> Iterator[Check]:
    contract = "check_text refuses what the engine's own call refuses, with the same error"
    look = partial(check_text, tokenizer)
    yield Check("check_text", contract, look)
    yield Check("check_text: lone surrogates", contract, look, pool="surrogates")
    said = (
        "what check_text refuses is a single character, which encode refuses, too, or one of the "
        "contents in facts.forbidden"
    )
    parts = partial(refused_part, tokenizer)
    yield Check("check_text: parts", said, parts)
    yield Check("check_text: parts, lone surrogates", said, parts, pool="surrogates")
    if facts_of(tokenizer).forbidden:
        yield Check(
            "facts.forbidden",
            "check_text refuses each of the contents wherever it stands",
            partial(forbidden, tokenizer),
        )


def locate(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Locates)
    ids = ids_of(tokenizer, text)
    return spans_complaint(tokenizer.locate(ids, text), ids, text)


def decode(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Decodes)
    ids = ids_of(tokenizer, text)
    once, again = tokenizer.decode(ids.tolist()), tokenizer.decode(ids)  # type: ignore[arg-type]
    if isinstance(once, str) and once == again:
        return None
    return Complaint("decode of a list and of the array", repr(once), repr(again))


def check_text(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, ChecksText)
    call = tokenizer.encode_whole if isinstance(tokenizer, EncodesWhole) else tokenizer.encode
    said, own = outcome(partial(tokenizer.check_text, text)), outcome(partial(call, text))
    refused = isinstance(said, Exception)
    if refused and type(said) is type(own):
        return None
    if not refused and not isinstance(own, (ValueError, TypeError)):
        return None
    expected = repr(own) if isinstance(own, Exception) else "no error"
    return Complaint("the engine's own call ends otherwise", expected, repr(said))


def refused_part(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """A stream is checked chunk by chunk, and a text that is not cut only for forbidden contents:
    nothing else may be refused."""
    assert isinstance(tokenizer, ChecksText)
    if any(content in text for content in facts_of(tokenizer).forbidden):
        return None
    if not isinstance(outcome(partial(tokenizer.check_text, text)), Exception):
        return None
    if not any(isinstance(outcome(partial(tokenizer.check_text, c)), Exception) for c in text):
        return Complaint("refused as a whole", "a character or a forbidden content that is refused")
    own = outcome(partial(tokenizer.encode, text))
    if isinstance(own, Exception):
        return None
    return Complaint("encode takes what check_text refuses", "an error", f"{len(own)} ids")


def forbidden(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, ChecksText)
    for content in facts_of(tokenizer).forbidden:
        for some in (content, f"{text}{content}", f"{content}{text}"):
            said = outcome(partial(tokenizer.check_text, some))
            if not isinstance(said, Exception):
                return Complaint(f"not refused: {content!r}", "an error", repr(said), some)
    return None


def remembered(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """Asked twice, since the second time everything is known; and with several workers."""
    assert isinstance(tokenizer, Remembers)
    finder = finder_for(facts_of(tokenizer))
    usual = [
        text
        for text in texts
        if finder.refusal_for(text) is None
        and finder.spaces_safe(text, 0, len(text))
        and not isinstance(outcome(partial(ids_of, tokenizer, text)), Exception)
    ]
    for workers in (1, 1, 2):
        found = tokenizer.remembered(usual, workers)
        if len(found) != len(usual):
            return Complaint("not one answer per text", str(len(usual)), str(len(found)))
        for text, got in zip(usual, found, strict=True):
            if got is None:
                continue
            expected = ids_of(tokenizer, text)
            wrong = array_complaint(got, "remembered") or ids_differ(expected, got, text, tokenizer)
            if wrong is not None:
                return wrong
    return None


def refreshed(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    assert isinstance(tokenizer, Refreshes)
    for text in texts[:20]:
        ids_of_text = outcome(partial(ids_of, tokenizer, text))
        if tokenizer.refreshed() is not tokenizer:
            return Complaint("another object", "itself", type(ids_of_text).__name__)
    return None


def detached(tokenizer: TokenizerAdapter, source: object, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Detaches)
    expected = ids_of(tokenizer, text)
    again = tokenizer.detached().attached(source)
    return ids_differ(expected, ids_of(again, text), text, tokenizer)
