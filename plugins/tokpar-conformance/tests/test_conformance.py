"""tokpar's own parts keep their contracts, and what a failure says can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken
from tokpar_conformance import (
    ConformanceError,
    check_executor,
    check_merger,
    check_splitter,
    check_tokenizer,
)
from tokpar_conformance.certificates import Certificates
from tokpar_conformance.checks import require
from tokpar_conformance.differing import smallest
from tokpar_conformance.pools import pools
from tokpar_conformance.strategy import checks_of, small_options, strategy_checks

import tokpar
from tests.conftest import cases, drawn
from tests.support.fakes import PanicsOn, RaisesOn, WordHash
from tests.support.paths import DATA, VOCAB
from tests.support.tokenizers_drawn import TiktokenSpec, build, named_tokenizers, plain_copy
from tests.support.toy import Toy
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.executors.native import NativeExecutor
from tokpar.executors.processes import ProcessExecutor
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.methods.mergers import LicensedMerger
from tokpar.registry.builtins import MERGERS
from tokpar.registry.tables import build_strategy, registry
from tokpar.types import Rows

pytestmark = pytest.mark.compiled_at_once

EXAMPLES = drawn(15)
NAMES = sorted(named_tokenizers())
SMALL_TIKTOKEN = "small tiktoken"
FEW = ("bert_part", "default", "llama_style", "metaspace_unigram", SMALL_TIKTOKEN)
"""A tokenizer of each kind; those with long tokens of spaces take ten times as long."""
BYTE_LEVEL = ("deepseek_part", "default")
PURE = [*BYTE_LEVEL, "bert_part", "llama_style"]
LOSSLESS = [record.name for record in tokpar.strategies() if record.lossless]
SMALL: dict[str, dict[str, Any]] = {
    "cut": {"chunk_chars": 3},
    "auto": {"chunk_chars": 4},
    "lopt": {"chunk_chars": 9, "overlap_chars": 12},
    "blocks": {"chunk_chars": 12, "overlap_chars": 10},
    "recursive": {"depth": 3},
    "delimiter": {"chunk_chars": 5},
    "overlap": {"chunk_chars": 7, "overlap_chars": 4},
    "serial": {},
}
MERGED = list(
    product(
        ["cut", "auto", "lopt", "blocks"], ["tekken_part", "default", "bert_part", "llama_style"]
    )
)
BUILT = list(product(SMALL, ["default", "metaspace_unigram"]))
KINDS = ("default", "bert_part", "llama_style")
BY_NAME = list(product(MERGERS, KINDS))
EACH_ONCE = [(name, KINDS[(k + 2) % len(KINDS)]) for k, name in enumerate(MERGERS)]


def path_of(name: str) -> Path:
    data = DATA
    return data / "default.json" if name == "default" else VOCAB / f"{name}.json"


def built(name: str, **options: Any) -> Any:
    return build_strategy(registry().strategy(name), SMALL[name] | options)


# ------------------------------------------------------------------------------- own parts


def tokenizer_of(name: str) -> Any:
    if name == SMALL_TIKTOKEN:
        return build(TiktokenSpec("cl100k", seed=7, merges=60, special=("<s>", "a<s", "zq")))
    return named_tokenizers()[name]


CHECKED = cases([*NAMES, SMALL_TIKTOKEN], FEW[::2])


@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_adapters_of_real_vocabularies_conform(name: str) -> None:
    check_tokenizer(tokenizer_of(name), examples=EXAMPLES)


@pytest.mark.parametrize("name", cases(PURE, ["bert_part"]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_pure_tokenizers_conform_and_give_the_ids_of_hugging_face(name: str) -> None:
    pure = tokpar.load(path_of(name), engine="pure")
    check_tokenizer(pure, tokpar.load(path_of(name)), examples=EXAMPLES)


@pytest.mark.parametrize("name", cases(["cl100k_part", SMALL_TIKTOKEN], [SMALL_TIKTOKEN]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_special_tokens_that_are_allowed_are_added_tokens(name: str) -> None:
    check_tokenizer(tokpar.load(tokenizer_of(name), allowed_special="all"), examples=EXAMPLES)


@pytest.mark.usefixtures("twelfths_in_quick")
def test_a_tokenizer_of_which_nothing_is_known_conforms() -> None:
    check_tokenizer(WordHash(), WordHash(), examples=EXAMPLES)


@pytest.mark.parametrize(
    "make",
    [
        SerialExecutor,
        lambda: ThreadExecutor(3),
        lambda: ThreadExecutor(1),
        lambda: NativeExecutor(2),
        lambda: NativeExecutor(1),
        lambda: ProcessExecutor(2),
    ],
    ids=["serial", "threads", "threads 1", "native", "native 1", "processes"],
)
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_executors_conform(make: Callable[[], Any]) -> None:
    check_executor(make(), examples=EXAMPLES)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_splitters_conform(name: str) -> None:
    check_splitter(built(name)[0], examples=EXAMPLES)


@pytest.mark.parametrize(("name", "tokenizer"), cases(MERGED, MERGED[::9]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_lossless_mergers_conform(name: str, tokenizer: str) -> None:
    check_merger(built(name)[1], named_tokenizers()[tokenizer], examples=EXAMPLES)


@pytest.mark.parametrize(("name", "tokenizer"), cases(BY_NAME, EACH_ONCE[::2]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_every_merger_conforms_without_what_no_rule_licenses(name: str, tokenizer: str) -> None:
    """As one of two parts that are combined, also with splitters that it was not made for."""
    merger = LicensedMerger(registry().merger_kind(name).build())
    check_merger(merger, named_tokenizers()[tokenizer], examples=EXAMPLES)


@pytest.mark.parametrize("name", ["delimiter", "overlap"])
def test_the_approximate_mergers_do_not(name: str, twelfths_but_for: Callable[[str], None]) -> None:
    twelfths_but_for("merge: ")
    with pytest.raises(ConformanceError, match="merge: "):
        check_merger(built(name)[1], examples=EXAMPLES, fail_fast=True)


@pytest.mark.parametrize(("name", "tokenizer"), cases(BUILT, BUILT[::5]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_strategies_conform(name: str, tokenizer: str) -> None:
    """Of a lossless one, `check_tokenizer` asks most, of the same texts."""
    strategy, adapter = registry().strategy(name), tokpar.load(named_tokenizers()[tokenizer])
    options = small_options(strategy.build)
    asked: set[str] = set()
    if strategy.lossless and tokenizer in CHECKED:
        asked = {check.name for check in strategy_checks(strategy, Certificates(adapter), options)}
    checks = [check for check in checks_of(strategy, adapter, options) if check.name not in asked]
    require(name, checks, pools(adapter, (), EXAMPLES))


# What the kit found when it was first run


@pytest.mark.parametrize("name", LOSSLESS)
def test_a_surrogate_pair_is_encoded_in_one_call(name: str) -> None:
    """tiktoken joins it, so no byte length of a chunk is that of its tokens."""
    encoding, text = named_tokenizers()["cl100k_part"], "aa\ud83d\ude00a"
    found = tokpar.encode(text, encoding, strategy=name, executor="serial", **SMALL[name])
    assert found == encoding.encode(text)


# ------------------------------------------------------------------------------- failures


TOY = Toy()


def encoding(name: str, ids: Callable[[str], Any]) -> Any:
    """Only what must be there: a name, and ids."""
    return SimpleNamespace(name=name, encode=lambda text: np.array(ids(text), dtype=np.uint32))


FAILURE = """\
drops does not conform: 1 of N checks failed

reference: the ids are those of toy, for code points that all engines classify alike
    text      'aaaaaaaaaaaaaaaaaaaaa' (21 code points)
    found     ids differ from number 20 on (21 expected, 20 got), at code point 20 of the text
    expected  ... 97 'a' 97 'a' 97 'a' >97 'a'<
    got       ... 97 'a' 97 'a' 97 'a' >end<"""


class Encodes(Toy):
    """The toy without what is applied to the whole."""

    special_tokens = np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    pads = False

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        return rows


def test_a_failure_reads_like_this() -> None:
    drops = encoding("drops", lambda text: TOY.id_list(text)[: -1 if len(text) > 20 else None])
    with pytest.raises(ConformanceError) as error:
        check_tokenizer(drops, Encodes(), examples=0)
    # each lossless strategy that is installed is a check
    assert re.sub(r"of \d+ checks", "of N checks", str(error.value)) == FAILURE
    assert error.value.checks == ("reference",)


def test_every_failed_check_is_named_at_once() -> None:
    wrong: Any = SimpleNamespace(name="", encode=lambda text: [len(text)])
    for fail_fast, failed in ((False, ("name", "encode: array")), (True, ("name",))):
        with pytest.raises(ConformanceError) as error:
            check_tokenizer(wrong, examples=0, fail_fast=fail_fast)
        assert error.value.checks == failed


def test_texts_of_the_caller_are_looked_at() -> None:
    allergic = encoding("allergic", lambda text: [len(text), "xyzzy" in text])
    calm = encoding("calm", lambda text: [len(text), 0])
    check_tokenizer(allergic, calm, examples=0)
    for text in ("a xyzzy b", "long " * 1000 + "xyzzy" + " long" * 1000):
        with pytest.raises(ConformanceError, match=r"'xyzzy' \(5 code points\)"):
            check_tokenizer(allergic, calm, texts=[text], examples=0)


def test_where_engines_differ_on_unicode_ids_are_compared_only_if_asked() -> None:
    old = encoding("old", lambda text: [ord(c) for c in text if c != "\U00016139"])
    new = encoding("new", lambda text: [*map(ord, text)])
    check_tokenizer(old, new, texts=["\U00016139"], examples=0)


def test_texts_refused_by_the_tokenizer_are_set_aside_but_everyday_ones_must_pass() -> None:
    check_tokenizer(RaisesOn(), examples=0)
    with pytest.raises(ConformanceError) as error:
        check_tokenizer(RaisesOn(marker="quick"), examples=0)
    assert error.value.checks == ("encode: plain texts",)
    with pytest.raises(ConformanceError, match="raised Panic"):
        check_tokenizer(PanicsOn(), examples=0, fail_fast=True)


# ------------------------------------------------------------------------------- texts, shrinking


@given(st.text("abcx", min_size=1, max_size=200), st.integers(1, 3))
def test_the_smallest_text_fails_and_needs_each_of_its_characters(text: str, least: int) -> None:
    def fails(some: str) -> bool:
        return some.count("x") >= least

    found = smallest(text, fails) if fails(text) else "x" * least
    assert found == "x" * least


def with_added(content: str, normalizer: Any = None) -> TokenizerAdapter:
    tokenizer = plain_copy(named_tokenizers()["default"])
    tokenizer.normalizer = normalizer
    tokenizer.add_tokens([AddedToken(content, normalized=False)])
    return tokpar.load(tokenizer)


def test_an_adapter_without_facts_is_given_the_added_tokens_and_words_of_its_reference() -> None:
    tokenizer = WordHash()
    alone = pools(tokenizer, (), EXAMPLES)["texts"]
    compared = pools(tokenizer, (), EXAMPLES, with_added("<odd>"))["texts"]
    assert not any("<odd>" in text for text in alone)
    assert any("<odd>" in text for text in compared)
    assert len(compared) > len(alone)


def test_an_engine_that_ignores_single_word_is_found_by_its_reference_alone(
    twelfths_but_for: Callable[[str], None],
) -> None:
    twelfths_but_for("reference")
    right, ignoring = (plain_copy(named_tokenizers()["default"]) for _ in range(2))
    right.add_tokens([AddedToken("<odd>", single_word=True, normalized=False)])
    ignoring.add_tokens([AddedToken("<odd>", normalized=False)])

    engine = encoding("ignoring", lambda text: ignoring.encode(text).ids)
    with pytest.raises(ConformanceError) as error:
        check_tokenizer(engine, tokpar.load(right))
    assert error.value.checks == ("reference",)
