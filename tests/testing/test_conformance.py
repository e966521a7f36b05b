"""tokpar's own parts keep their contracts, and what a failure says can be read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, normalizers

import tokpar
import tokpar.registry as registry_module
from tests.conftest import cases, drawn
from tests.support.fakes import PanicsOn, RaisesOn, WordHash
from tests.support.paths import DATA, VOCAB
from tests.support.tokenizers_drawn import TiktokenSpec, build, named_tokenizers, plain_copy
from tests.support.toy import Toy
from tokpar.adapters.pure import PureTokenizer
from tokpar.arrays import IdArray, has_surrogate
from tokpar.builtins import MERGERS, SPLITTERS
from tokpar.cli import main
from tokpar.cli.texts import read_sources
from tokpar.executors.native import NativeExecutor
from tokpar.executors.processes import ProcessExecutor
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.hooks import hookimpl
from tokpar.interfaces import TokenizerAdapter, TokenizerSource
from tokpar.overlap.mergers import LicensedMerger
from tokpar.pure.formats import read_tokenizer_json
from tokpar.registry import build_strategy, registry
from tokpar.testing import (
    ConformanceError,
    check_executor,
    check_merger,
    check_splitter,
    check_tokenizer,
)
from tokpar.testing.certificates import Certificates
from tokpar.testing.checks import require
from tokpar.testing.differing import simplest, smallest
from tokpar.testing.fixed_texts import hostile_texts, surrogate_texts
from tokpar.testing.pools import added_contents, competing, pools, vocabulary_words
from tokpar.testing.strategy import checks_of, small_options, strategy_checks
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


@pytest.mark.parametrize("name", ["lopt", "blocks", "recursive"])
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_published_splitters_conform_too(name: str) -> None:
    check_splitter(built(name, acceptance="paper")[0], examples=EXAMPLES)


@pytest.mark.parametrize(("name", "tokenizer"), cases(MERGED, MERGED[::9]))
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_lossless_mergers_conform(name: str, tokenizer: str) -> None:
    check_merger(built(name)[1], named_tokenizers()[tokenizer], examples=EXAMPLES)


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.usefixtures("twelfths_in_quick")
def test_the_splitters_by_name_conform(name: str) -> None:
    build = registry().splitter_kind(name).build
    for options in small_options(build):
        check_splitter(build(**options), examples=EXAMPLES)


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


def test_every_strategy_there_is_was_checked() -> None:
    assert SMALL.keys() == {record.name for record in tokpar.strategies()}


# What the kit found when it was first run


@pytest.mark.parametrize("name", LOSSLESS)
def test_a_surrogate_pair_is_encoded_in_one_call(name: str) -> None:
    """tiktoken joins it, so no byte length of a chunk is that of its tokens."""
    encoding, text = named_tokenizers()["cl100k_part"], "aa\ud83d\ude00a"
    found = tokpar.encode(text, encoding, strategy=name, executor="serial", **SMALL[name])
    assert found == encoding.encode(text)


def test_a_surrogate_pair_in_the_first_of_many_blocks_is_encoded_in_one_call() -> None:
    encoding, text = named_tokenizers()["cl100k_part"], "\ud83d\ude00aaaaaa"
    options = {"chunk_chars": 2, "overlap_chars": 1}
    found = tokpar.encode(text, encoding, strategy="blocks", executor="serial", **options)
    assert found == encoding.encode(text)


# ------------------------------------------------------------------------------- failures


TOY = Toy()


class DropsTheLast:
    """Only what must be there, and wrong: the last id of long texts is left out."""

    name = "drops"

    def encode(self, text: str) -> IdArray:
        ids = TOY.encode(text)
        return ids[:-1] if len(text) > 20 else ids


FAILURE = """\
drops does not conform: 1 of 24 checks failed

reference: the ids are those of toy, for code points that all engines classify alike \
(correction 0'.1)
    text      'aaaaaaaaaaaaaaaaaaaaa' (21 code points)
    found     ids differ from number 20 on (21 expected, 20 got), at code point 20 of the text
    expected  ... 97 'a' 97 'a' 97 'a' >97 'a'<
    got       ... 97 'a' 97 'a' 97 'a' >end<"""


def test_a_failure_reads_like_this() -> None:
    with pytest.raises(ConformanceError) as error:
        check_tokenizer(DropsTheLast(), Encodes(), examples=0)
    assert str(error.value) == FAILURE
    assert error.value.checks == ("reference",)


class Encodes(Toy):
    """The toy without what is applied to the whole."""

    special_tokens = np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    pads = False

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        return rows


def test_every_failed_check_is_named_at_once() -> None:
    class Wrong:
        name = ""

        def encode(self, text: str) -> Any:
            return [len(text)]

    with pytest.raises(ConformanceError) as error:
        check_tokenizer(Wrong(), examples=0)
    assert error.value.checks == ("name", "encode: array")
    with pytest.raises(ConformanceError) as first:
        check_tokenizer(Wrong(), examples=0, fail_fast=True)
    assert first.value.checks == ("name",)


def test_a_failure_is_a_failed_assertion_and_an_error_of_tokpar() -> None:
    assert issubclass(ConformanceError, AssertionError)
    assert issubclass(ConformanceError, tokpar.TokparError)


def test_texts_of_the_caller_are_looked_at() -> None:
    class Allergic:
        name = "allergic"

        def encode(self, text: str) -> IdArray:
            return np.array([len(text), "xyzzy" in text], dtype=np.uint32)

    class Calm:
        name = "calm"

        def encode(self, text: str) -> IdArray:
            return np.array([len(text), 0], dtype=np.uint32)

    check_tokenizer(Allergic(), Calm(), examples=0)
    for text in ("a xyzzy b", "long " * 1000 + "xyzzy" + " long" * 1000):
        with pytest.raises(ConformanceError, match=r"'xyzzy' \(5 code points\)"):
            check_tokenizer(Allergic(), Calm(), texts=[text], examples=0)


def test_texts_refused_by_the_tokenizer_are_set_aside_but_everyday_ones_must_pass() -> None:
    check_tokenizer(RaisesOn(), examples=0)
    with pytest.raises(ConformanceError) as error:
        check_tokenizer(RaisesOn(marker="quick"), examples=0)
    assert error.value.checks == ("encode: plain texts",)
    with pytest.raises(ConformanceError, match="raised Panic"):
        check_tokenizer(PanicsOn(), examples=0, fail_fast=True)


def test_where_engines_differ_on_unicode_ids_are_compared_only_if_asked() -> None:
    class Old:
        name = "old"

        def encode(self, text: str) -> IdArray:
            return np.array([ord(c) for c in text if c != "\U00016139"], dtype=np.uint32)

    class New:
        name = "new"

        def encode(self, text: str) -> IdArray:
            return np.array([ord(c) for c in text], dtype=np.uint32)

    check_tokenizer(Old(), New(), texts=["\U00016139"], examples=0)


# ------------------------------------------------------------------------------- texts, shrinking


@given(st.text("abcx", min_size=1, max_size=200), st.integers(1, 3))
def test_the_smallest_text_fails_and_needs_each_of_its_characters(text: str, least: int) -> None:
    def fails(some: str) -> bool:
        return some.count("x") >= least

    found = smallest(text, fails) if fails(text) else "x" * least
    assert found == "x" * least


def test_a_smallest_list_of_texts_keeps_its_order() -> None:
    def fails(some: Sequence[str]) -> bool:
        return "b" in some and "d" in some[list(some).index("b") :]

    assert smallest(("a", "b", "c", "d", "e"), fails) == ("b", "d")


def test_characters_that_do_not_matter_become_simple_ones() -> None:
    assert simplest("zé中", lambda text: len(text) >= 3) == "aaa"
    assert simplest("qq é 1", lambda text: "é" in text and len(text) > 1) in ("aé", "éa")


def test_fixed_texts_can_be_written_as_utf8_and_the_others_cannot() -> None:
    assert len(hostile_texts()) > 100
    assert not any(map(has_surrogate, hostile_texts()))
    assert all(map(has_surrogate, surrogate_texts()))


def test_words_of_the_vocabulary_are_found_with_and_without_a_list_of_tokens() -> None:
    listed = vocabulary_words(tokpar.load(named_tokenizers()["default"]))
    decoded = vocabulary_words(tokpar.load(named_tokenizers()["bert_part"]))
    assert all(tokpar.load().encode(word).size == 1 for word in listed)
    assert len(listed) > 40
    assert "the" in decoded
    assert vocabulary_words(WordHash()) == ()


def test_tokens_that_compete_stand_in_one_text() -> None:
    assert competing(("ab", "bc", "c")) == ("abc",)
    assert competing(("aba",)) == ("ababa",)
    assert competing(()) == ()


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


def test_contents_of_added_tokens_are_drawn_as_normalizers_change_them() -> None:
    assert "caf\u00e9" in set(added_contents(with_added("caf\u00e9")))
    assert "cafe\u0301" not in set(added_contents(with_added("caf\u00e9")))
    changed = set(added_contents(with_added("caf\u00e9", normalizers.NFC())))
    assert changed > {"caf\u00e9", "cafe\u0301", "CAF\u00c9"}


def test_an_engine_that_ignores_single_word_is_found_by_its_reference_alone(
    twelfths_but_for: Callable[[str], None],
) -> None:
    twelfths_but_for("reference")
    right, ignoring = (plain_copy(named_tokenizers()["default"]) for _ in range(2))
    right.add_tokens([AddedToken("<odd>", single_word=True, normalized=False)])
    ignoring.add_tokens([AddedToken("<odd>", normalized=False)])

    class Ignoring:
        name = "ignoring"

        def encode(self, text: str) -> IdArray:
            return np.array(ignoring.encode(text).ids, dtype=np.uint32)

    with pytest.raises(ConformanceError) as error:
        check_tokenizer(Ignoring(), tokpar.load(right))
    assert error.value.checks == ("reference",)


WITHOUT_HYPOTHESIS = """
import sys
sys.modules["hypothesis"] = None
import tokpar
try:
    import tokpar.testing
except ImportError as error:
    print(error)
from tokpar.cli import main
print(main(["conform", "default"]))
"""


def test_without_hypothesis_the_error_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_HYPOTHESIS], capture_output=True, text=True, check=True
    )
    said = "pip install 'tokpar[testing]'"
    assert said in done.stdout
    assert done.stdout.endswith("\n2\n")
    assert said in done.stderr


# ------------------------------------------------------------------------------- tokpar conform


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["conform", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.usefixtures("few_texts")
def test_conform_checks_an_engine_on_the_bundled_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "pure", "--examples", 0)
    assert (code, err) == (0, "")
    assert out.startswith("pure:default conforms: ")
    assert out.endswith("ids compared with huggingface:BPE\n")


def unmerged(path: Path) -> PureTokenizer:
    """A tokenizer that breaks no rule, but has only half of the merges of its file."""
    vocabulary = read_tokenizer_json(path)
    half = dict(islice(vocabulary.merges.items(), len(vocabulary.merges) // 2))
    return PureTokenizer(replace(vocabulary, merges=half, whole_piece=False), "unmerged")


class OwnFiles:
    """The sources of three tokenizers: of one that needs no file, of one that does, and of one with
    other ids than those of its file."""

    @hookimpl
    def tokpar_tokenizers(self) -> list[TokenizerSource]:
        hashes = TokenizerSource(
            "hashes", lambda source: WordHash() if source == "hashes" else None
        )
        filed = TokenizerSource("filed", lambda source: None)
        return [hashes, filed, TokenizerSource("unmerged", unmerged, automatic=False)]


@pytest.fixture
def own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_registry", [registry_module.Registry.load([])])
    registry_module.registry().register(OwnFiles(), name="own files")


@pytest.mark.usefixtures("own_files")
def test_conform_exits_with_1_and_shows_the_smallest_text(
    capsys: pytest.CaptureFixture[str], twelfths_but_for: Callable[[str], None]
) -> None:
    twelfths_but_for("reference")
    code, out, _ = run(capsys, "unmerged", "--examples", 0, "--fail-fast")
    assert code == 1
    assert "does not conform" in out
    assert "\nreference: the ids are those of huggingface:BPE" in out


@pytest.mark.usefixtures("own_files")
def test_conform_prints_json(
    capsys: pytest.CaptureFixture[str], twelfths_but_for: Callable[[str], None]
) -> None:
    twelfths_but_for("reference")
    arguments = ("unmerged", "--tokenizer", path_of("deepseek_part"), "--json", "--fail-fast")
    code, out, _ = run(capsys, *arguments, "--examples", 0)
    got = json.loads(out)
    assert (code, got["conforms"], got["failed"]) == (1, False, ["reference"])
    assert got["checks"][-1] == "reference"
    assert got["reference"] == "huggingface:BPE"


@pytest.mark.usefixtures("few_texts")
def test_conform_encodes_the_texts_of_a_corpus_and_names_each_check_on_stderr(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows, plain = tmp_path / "rows.jsonl", tmp_path / "plain.txt"
    rows.write_text('{"text": "one\u2028two"}\n\n{"text": "three"}\n', encoding="utf-8")
    plain.write_text("word " * 2000, encoding="utf-8")
    assert [source.text for source in read_sources(str(rows))] == ["one\u2028two", "three"]
    arguments = (path_of("bert_part"), rows, plain, "--reference", "none", "--progress", "--json")
    code, out, err = run(capsys, *arguments, "--examples", 0)
    got = json.loads(out)
    assert (code, got["corpus_texts"], got["reference"]) == (0, 3, None)
    assert "strategy auto: long texts" in got["checks"]
    assert err.startswith("check 1: name\ncheck 2: encode")
    assert len(err.splitlines()) == len(got["checks"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nonsense",), "unknown tokenizer 'nonsense'"),
        (("pure", "--engine", "pure"), "'pure' is an engine"),
        (("default", "--tokenizer", "default"), "--tokenizer goes with the name of a part"),
        (("cut", "--kind", "executor"), "'cut' is no executor and no plugin with one"),
        (("cut", "--option", "size=3"), "merger 'cut' has no option 'size'"),
        (("threads", "--option", "size=3"), "executor 'threads' has no option 'size'"),
        (("threads", "--tokenizer", "default", "--engine", "pure"), "'threads' does not suit pure"),
        (("pure", "--tokenizer", "gone.json"), "gone.json"),
        (("default", "--reference", "warp"), "unknown engine 'warp'"),
        (("default", "--examples", "-1"), "--examples must be at least 0, got -1"),
        (("default", "gone.txt"), "gone.txt"),
    ],
)
def test_conform_refuses(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_a_corpus_row_without_a_text_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a"}\n{"txt": "b"}\n', encoding="utf-8")
    code, _, err = run(capsys, "default", path)
    assert code == 2
    assert f"{path}:2: expected a JSON object with a str as 'text'; its fields: 'txt'" in err


def checked(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    """What `tokpar conform` says has passed, up to the number of checks."""
    code, out, err = run(capsys, *arguments, "--examples", 0)
    assert (code, err) == (0, "")
    return [line.partition(":")[0] for line in out.splitlines()]


@pytest.mark.usefixtures("few_texts")
def test_conform_checks_all_parts_of_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    parts = ["merger cut", "splitter cut", "strategy cut"]
    assert checked(capsys, "cut") == [f"{part} conforms" for part in parts]
    assert checked(capsys, "cut", "--kind", "splitter") == ["splitter cut conforms"]
    assert checked(capsys, "native") == ["executor native conforms"]
    assert checked(capsys, "lopt", "--option", "chunk_chars=9", "--option", "overlap_chars=12") == [
        "splitter lopt conforms",
        "strategy lopt conforms",
    ]


@pytest.mark.usefixtures("few_texts")
def test_conform_checks_parts_with_the_tokenizer_that_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tokenizer = path_of("bert_part")
    code, out, _ = run(capsys, "cut", "--tokenizer", tokenizer, "--json", "--examples", 0)
    got = json.loads(out)
    assert code == 0
    assert [(part["kind"], part[part["kind"]]) for part in got] == [
        ("merger", "cut"),
        ("splitter", "cut"),
        ("strategy", "cut"),
    ]
    assert all(part["conforms"] and part["checks"] for part in got)


def test_conform_tells_the_mergers_that_join_without_a_rule(
    capsys: pytest.CaptureFixture[str], twelfths_but_for: Callable[[str], None]
) -> None:
    twelfths_but_for("merge: ")
    code, out, _ = run(capsys, "concatenate", "--examples", 0, "--fail-fast")
    assert code == 1
    assert "a join without a rule: None is for what nothing licenses" in out


@pytest.mark.usefixtures("own_files", "few_texts")
def test_conform_finds_a_tokenizer_that_goes_by_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert checked(capsys, "hashes") == ["word hash conforms"]
    code, _, err = run(capsys, "filed")
    assert code == 2
    assert "'filed' does not read the bundled file: give --tokenizer PATH" in err
