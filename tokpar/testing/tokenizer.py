"""`check_tokenizer`: everything an adapter promises, by having a method or by its facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokpar.interfaces import TokenizerAdapter
from tokpar.loading import load
from tokpar.testing.abilities import ability_checks
from tokpar.testing.checks import Check, Watch, require
from tokpar.testing.cutting import cut_checks
from tokpar.testing.encoding import copy_checks, encode_checks, reference_checks
from tokpar.testing.facts import facts_checks
from tokpar.testing.pools import pools


def check_tokenizer(
    tokenizer: object,
    reference: object | None = None,
    *,
    texts: Sequence[str] = (),
    examples: int | None = None,
    all_unicode: bool = False,
    watch: Watch | None = None,
    fail_fast: bool = False,
) -> None:
    """Raise ConformanceError, which names each failed check with its smallest text, unless the
    tokenizer keeps its contract.

    `tokenizer` and `reference`: whatever `tokpar.load` takes; the ids must be the reference's, for
    code points that all engines classify alike, or with `all_unicode` for all. `texts`: the
    caller's own, besides `examples` drawn ones (None: 60, or what the active profile of hypothesis
    draws if that is less) and about 120 fixed ones; those over 2,000 code points are encoded whole
    by every strategy and the reference. `watch` is called with the name of each check; with
    `fail_fast` the first that fails is the last. The same number draws the same texts each time,
    and so the answer is the same.
    """
    adapter = load(tokenizer)
    other = None if reference is None else load(reference)
    checks = tokenizer_checks(adapter, tokenizer, other, all_unicode)
    drawn = pools(adapter, texts, examples, other)
    require(str(adapter.name), checks, drawn, watch, fail_fast)


def tokenizer_checks(
    adapter: TokenizerAdapter,
    source: object,
    reference: TokenizerAdapter | None = None,
    all_unicode: bool = False,
) -> Iterator[Check]:
    """All checks that apply to the adapter, quick ones first."""
    yield from encode_checks(adapter)
    yield from ability_checks(adapter, source)
    yield from facts_checks(adapter)
    yield from copy_checks(adapter)
    if reference is not None:
        yield from reference_checks(adapter, reference, all_unicode)
    yield from cut_checks(adapter)
