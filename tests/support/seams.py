"""What the tests say about a cut: wrong in fact, refused by the planner, and the whole lossless."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import tiktoken

import tokpar
from tests.conftest import is_quick
from tests.support.tokenizers_drawn import named_tokenizers, plain_copy
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.types import Seam


@functools.cache
def part(name: str) -> Any:
    """A committed part of a real vocabulary, as the tokenizer object of its own library."""
    tokenizer = named_tokenizers()[name]
    return tokenizer if isinstance(tokenizer, tiktoken.Encoding) else plain_copy(tokenizer)


def serial(tokenizer: Any, text: str) -> list[int]:
    """The tokenizer's own serial call, without special tokens."""
    if isinstance(tokenizer, tiktoken.Encoding):
        return tokenizer.encode_ordinary(text)
    return tokenizer.encode(text, add_special_tokens=False).ids


def finder(tokenizer: Any) -> CutFinder:
    """The planner's knowledge of this tokenizer."""
    return finder_for(facts_of(tokpar.load(tokenizer)))


def refused(tokenizer: Any, text: str, p: int) -> bool:
    """The planner does not certify the cut before code point `p`."""
    planner = finder(tokenizer)
    return planner.refusal_for(text) is not None or planner.certify(text, p) is None


def wrong_in_fact(tokenizer: Any, text: str, p: int) -> bool:
    """Encoding both halves alone gives other ids."""
    halves = serial(tokenizer, text[:p]) + serial(tokenizer, text[p:])
    return halves != serial(tokenizer, text)


def every_lossless(size: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each lossless strategy with options that make chunks of about `size` code points."""
    yield "cut", {"chunk_chars": size}
    yield "auto", {"chunk_chars": size}
    for on_failure in ("repair", "restart"):
        both = {"chunk_chars": size, "on_failure": on_failure}
        yield "lopt", {**both, "overlap_chars": size, "min_match": 1}
        yield "lopt", {**both, "overlap_chars": 16}
    yield "blocks", {"chunk_chars": size}
    yield "blocks", {"chunk_chars": size, "overlap_chars": 4}
    yield "recursive", {"depth": 5 if size < 8 else 2}


def different(sizes: Iterable[int], length: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Those of `every_lossless` that differ on a text of so many code points: what is one chunk is
    one chunk for every larger size, too, and options that no size changes are tried once."""
    done = set()
    for strategy, options in (each for size in sizes for each in every_lossless(size)):
        whole = options.get("chunk_chars", 0) >= length
        what = (strategy, None if whole else tuple(options.items()))
        if what not in done:
            done.add(what)
            yield strategy, options


def assert_lossless(tokenizer: Any, text: str, sizes: tuple[int, ...] = ()) -> None:
    """Every lossless strategy gives the serial ids, however small the chunks, and the checker
    agrees. Beside chunks of one code point `quick` tries one size of the others, which one
    depends on the length of the text."""
    if not sizes:
        sizes = (1, (2, 3, 7, 64)[len(text) % 4]) if is_quick() else (1, 2, 3, 7, 64)
    adapter = tokpar.load(tokenizer, **plain_settings(tokenizer))
    assert_adapter_lossless(adapter, serial(tokenizer, text), text, sizes)


def assert_adapter_lossless(
    adapter: TokenizerAdapter, expected: list[int], text: str, sizes: tuple[int, ...]
) -> None:
    """The same of an adapter, given the ids that its serial call should make."""
    checked, mended = set[tuple[Seam, ...]](), dict[str, bool]()
    for strategy, options in different(sizes, len(text)):
        plan = str({**options, "on_failure": None})
        if options.get("on_failure") == "restart" and not mended[plan]:
            continue  # nothing failed, so it would be the same again
        with tokpar.Encoder(adapter, strategy=strategy, executor="serial", **options) as encoder:
            encoding = encoder.encode(text)
        assert encoding.ids.tolist() == expected, (strategy, options, text)
        assert encoding.lossless
        mended[plan] = encoding.report.repairs > 0 or encoding.report.retries > 0
        seams = tuple(encoding.seams)
        if seams not in checked:
            checked.add(seams)
            report = tokpar.check(encoding, text, adapter)
            assert report.ok, (report.findings, strategy, options, text)


def plain_settings(tokenizer: Any) -> dict[str, Any]:
    """Settings of `tokpar.load` under which its ids are those of `serial`."""
    if isinstance(tokenizer, tiktoken.Encoding):
        return {"disallowed_special": ()}
    return {"add_special_tokens": False}
