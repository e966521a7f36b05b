"""`tokpar diff A B`: equal by a proof, different by a text that needs all of its characters, or
undecided."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from mutated_files import (
    QWEN_2,
    Change,
    add_token,
    exchange_merges,
    mutated,
    set_flag,
    set_normalizer,
    set_pattern,
    write_file,
)
from tokenizers import AddedToken, Tokenizer, decoders, normalizers
from tokpar_diff import compare, equality, search, sides

from tests.support.cli_runs import run
from tests.support.paths import DEFAULT, VOCAB
from tests.support.profiles import drawn
from tests.support.small_encodings import small_encoding
from tokpar.errors import MismatchError, OptionError, UnknownNameError

IDS = ("ids", "plain_ids")
DECODE = ("text", "plain_text")
ALL = (*IDS, "offsets", *DECODE)


@pytest.fixture(autouse=True)
def fewer_drawn_texts_in_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "DRAWN", drawn(search.DRAWN))


def make_row(*stages: dict[str, Any]) -> Change:
    """Put a row of normalizers in the place of the file's own."""
    return lambda config: config.update(
        normalizer={"type": "Sequence", "normalizers": list(stages)}
    )


def replace_text(text: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def lower_bert() -> dict[str, Any]:
    flags = dict.fromkeys(("clean_text", "handle_chinese_chars", "strip_accents"), False)
    return {"type": "BertNormalizer", "lowercase": True, **flags}


def put_entry(config: dict[str, Any]) -> None:
    """Add an entry that nothing makes, before the last one, which is the added token."""
    vocabulary = config["model"]["vocab"]
    size = len(vocabulary)
    vocabulary |= {"zzqqzz": size, "<|end|>": size + 1}
    config["added_tokens"][0]["id"] = size + 1


def remove_entry(config: dict[str, Any]) -> None:
    put_entry(config)
    del config["model"]["vocab"]["zzqqzz"]


def test_a_renamed_copy_is_equal(tmp_path: Path) -> None:
    shutil.copy(DEFAULT, tmp_path / "other.json")
    printed = run("diff", DEFAULT, tmp_path / "other.json")
    assert printed.code == 0
    assert "equal: ids, ids without special tokens, offsets, decode" in printed.out
    assert "because the same in what tokenizers" in printed.out


def test_an_object_that_does_otherwise_than_its_file_is_not_proved() -> None:
    """The engine normalizes the contents of added tokens when they are added."""
    own = Tokenizer.from_file(str(DEFAULT))
    own.normalizer = normalizers.BertNormalizer(lowercase=False)
    own.add_tokens([AddedToken("ABC", normalized=True)])
    own.normalizer.lowercase = True
    found = compare.diff(own, Tokenizer.from_str(own.to_str()))
    assert found.answer == "different", found
    assert found.structure == ()


def test_parts_in_python_and_ids_by_chance_are_not_proved() -> None:
    drawing = Tokenizer.from_file(str(DEFAULT))
    drawing.model.dropout = 0.5
    found = equality.arguments_for(sides.open_side(drawing), sides.open_side(drawing))
    assert "ids are drawn at random (dropout) in a" in [each.sentence for each in found]

    class Decoder:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens

    custom = Tokenizer.from_file(str(DEFAULT))
    custom.decoder = decoders.Decoder.custom(Decoder())
    assert compare.diff(custom, custom).answer == "undecided"


EQUAL_PAIRS = {
    "a pattern in other words": (
        set_pattern(QWEN_2.replace(r"\s+(?!\S)|\s+", r"\s+(?!\S)|\s|\s+")),
        "the two patterns have the same matches in every text (product of their automata)",
        ALL,
    ),
    "only `special`": (
        lambda config: config["added_tokens"][0].update(special=False),
        "only the flag `special` of added tokens differs",
        (*IDS, "offsets", "text"),
    ),
}


@pytest.mark.parametrize(("change", "reason", "aspects"), EQUAL_PAIRS.values(), ids=EQUAL_PAIRS)
def test_it_proves_what_is_equal(
    tmp_path: Path, change: Change, reason: str, aspects: tuple[str, ...]
) -> None:
    found = compare.diff(mutated(tmp_path), mutated(tmp_path, change, name="b.json"))
    assert tuple(x for x in ALL if found.aspects[x] == "equal") == aspects
    assert any(reason in each for each in found.reasons)


def test_normalizers_that_write_each_character_alike_are_equal(tmp_path: Path) -> None:
    """But for offsets, about which theorem 4.8 says nothing."""
    one = make_row({"type": "Lowercase"}, replace_text("x", "y"))
    two = make_row(replace_text("X", "Y"), replace_text("x", "y"), lower_bert())
    a, b = mutated(tmp_path, one), mutated(tmp_path, two, name="b.json")
    found = run("diff", a, b, "--json")
    assert found.code == 3
    assert [x for x, answer in found.json["aspects"].items() if answer != "equal"] == ["offsets"]
    assert any("theorem 4.8" in each for each in found.json["reasons"])
    other = mutated(
        tmp_path, make_row(replace_text("x", "y"), {"type": "Lowercase"}), name="c.json"
    )
    assert compare.diff(a, other).differences[0].text == "X"


def test_an_entry_that_nothing_makes_may_go(tmp_path: Path) -> None:
    a = mutated(tmp_path, put_entry)
    found = compare.diff(a, mutated(tmp_path, remove_entry, name="b.json"))
    assert found.answer == "equal"
    assert "no character and no merge makes the entries of one side only" in found.reasons
    assert found.structure == ("vocabulary: 1 token only in a, such as 'zzqqzz': 16384",)


def test_with_ignore_merges_every_entry_may_be_found(tmp_path: Path) -> None:
    def ignore(config: dict[str, Any]) -> None:
        config["model"]["ignore_merges"] = True

    a = mutated(tmp_path, put_entry, ignore)
    found = compare.diff(a, mutated(tmp_path, remove_entry, ignore, name="b.json"))
    assert (found.answer, found.differences[0].text) == ("different", "zzqqzz")


DIFFERENT_PAIRS = {
    "one merge exchanged": (exchange_merges(0, -1), "merges", 4),
    "one added token made rstrip": (set_flag("rstrip"), "added tokens", 8),
    "NFC to NFKC": (set_normalizer("NFKC"), "normalizer", 1),
    "digits by three": (
        set_pattern(QWEN_2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")),
        "pre-tokenizer",
        2,
    ),
    "a post-processor": (
        lambda config: config.update(
            post_processor={
                "type": "BertProcessing",
                "sep": ["<|end|>", 16384],
                "cls": ["<|end|>", 16384],
            }
        ),
        "post-processor",
        0,
    ),
    "truncation": (
        lambda config: config.update(
            truncation={"max_length": 5, "stride": 0, "direction": "Right"}
            | {"strategy": "LongestFirst"}
        ),
        "truncation and padding",
        8,
    ),
}


@pytest.mark.parametrize(
    ("change", "part", "length"), DIFFERENT_PAIRS.values(), ids=DIFFERENT_PAIRS
)
def test_it_finds_a_text_that_needs_each_of_its_characters(
    tmp_path: Path, change: Change, part: str, length: int
) -> None:
    a, b = mutated(tmp_path), mutated(tmp_path, change, name="b.json")
    printed = run("diff", a, b, "--json")
    assert printed.code == 1
    found = printed.json
    assert [each.partition(":")[0] for each in found["structure"]] == [part]
    first = found["differences"][0]
    assert len(first["text"]) <= length
    first_ids = [Tokenizer.from_file(str(path)).encode(first["text"]).ids for path in (a, b)]
    assert [first[row]["ids"] for row in ("row_a", "row_b")] == first_ids
    assert first_ids[0] != first_ids[1]
    for k in range(len(first["text"])):
        shorter = first["text"][:k] + first["text"][k + 1 :]
        ids = [Tokenizer.from_file(str(path)).encode(shorter).ids for path in (a, b)]
        assert ids[0] == ids[1], shorter


def test_a_reader_sees_the_text_that_differs(tmp_path: Path) -> None:
    a, b = mutated(tmp_path), mutated(tmp_path, set_flag("rstrip"), name="b.json")
    found = run("diff", a, b, "--json").json["differences"][0]
    shown = run("diff", a, b).out
    assert repr(found["text"]) in shown
    assert "different: ids" in shown


def test_merges_of_which_no_text_shows_the_order_are_undecided(tmp_path: Path) -> None:
    a, b = mutated(tmp_path), mutated(tmp_path, exchange_merges(-1, -2), name="b.json")
    printed = run("diff", a, b)
    assert printed.code == 3
    assert "undecided: ids, ids without special tokens, offsets" in printed.out
    assert "nothing here decides whether they ever compete" in printed.out
    assert run("diff", a, b, "--accept", "undecided").code == 0


# ------------------------------------------------------------------------- directories, classes


def test_a_file_and_its_directory(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is missing")
    path = write_file(tmp_path / "model" / "tokenizer.json", add_token)
    settings = path.with_name("tokenizer_config.json")
    settings.write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}', "utf-8")
    same = run("diff", path, path.parent)
    assert same.code == 0, same
    assert "transformers 5" in same.out
    settings.write_text('{"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": true}', "utf-8")
    other = run("diff", path, path.parent)
    assert other.code == 1
    assert "GPT2Tokenizer, tokenizers" in other.out
    settings.write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast", "split_special_tokens": true}', "utf-8"
    )
    assert compare.diff(path, path.parent).differences[0].text in ("<|end|>", "\n<|end|>")


def test_a_class_that_encodes_or_decodes_in_python_is_not_proved(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is missing")

    class Decoding(transformers.PreTrainedTokenizerFast):  # type: ignore[name-defined, misc]
        def _decode(self, *arguments: Any, **settings: Any) -> Any:
            return super()._decode(*arguments, **settings)

    class Calling(transformers.PreTrainedTokenizerFast):  # type: ignore[name-defined, misc]
        def __call__(self, *arguments: Any, **settings: Any) -> Any:
            return super().__call__(*arguments, **settings)

    own = Tokenizer.from_file(str(mutated(tmp_path)))
    plain = transformers.PreTrainedTokenizerFast(tokenizer_object=own)
    decoding = compare.diff(plain, Decoding(tokenizer_object=own))
    assert [decoding.aspects[x] for x in ALL] == ["equal"] * 3 + ["undecided"] * 2
    assert "Decoding has its own _decode in b" in decoding.reasons
    calling = compare.diff(plain, Calling(tokenizer_object=own))
    assert set(calling.aspects.values()) == {"undecided"}


def test_encodings_of_tiktoken() -> None:
    one, two = small_encoding(), small_encoding()
    found = compare.diff(one, two)
    assert dict(found.aspects) == dict.fromkeys(("ids", "plain_ids", "text"), "equal")
    specials = {**one._special_tokens, "<a>": one.n_vocab, "<a>b": one.n_vocab + 1}
    settings = {"pat_str": one._pat_str, "mergeable_ranks": one._mergeable_ranks}
    by_chance = tiktoken.Encoding("chance", **settings, special_tokens=specials)
    assert any("by chance" in each for each in compare.diff(by_chance, by_chance).reasons)
    other_engine = compare.diff(one, VOCAB / "deepseek_part.json")
    assert (other_engine.answer, other_engine.structure) == ("different", ())
    assert "offsets" not in other_engine.aspects


# -------------------------------------------------------------------------------- other Pythons


def fake_python(folder: Path, *lines: str) -> Path:
    """A Python in which these lines run first."""
    path = folder / "python"
    body = ["import sys, runpy", *lines, "sys.argv = sys.argv[2:]"]
    body += ["runpy.run_path(sys.argv[0], run_name='__main__')"]
    path.write_text("\n".join([f"#!{sys.executable}", *body]), "utf-8")
    path.chmod(0o755)
    return path


def test_another_python_of_the_same_versions_is_equal(tmp_path: Path) -> None:
    path = mutated(tmp_path)
    printed = run("diff", path, path, "--python", sys.executable)
    assert printed.code == 0, printed
    assert f"b: {path} in {sys.executable} (Tokenizer, tokenizers" in printed.out


def test_no_proof_spans_two_releases(tmp_path: Path) -> None:
    path = mutated(tmp_path)
    other = fake_python(tmp_path, "import tokenizers", "tokenizers.__version__ = '0.1'")
    printed = run("diff", path, path, "--python", other)
    assert printed.code == 3, printed
    assert "because no proof spans two releases of tokenizers: " in printed.out
    assert " and 0.1\n" in printed.out
    late = mutated(tmp_path, set_flag("rstrip"), name="late.json")
    assert run("diff", path, late, "--python", other).code == 1


def test_a_directory_in_another_python(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is missing")
    path = write_file(tmp_path / "model" / "tokenizer.json", add_token)
    settings = path.with_name("tokenizer_config.json")
    settings.write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}', "utf-8")
    assert compare.diff(path.parent, path.parent, python=sys.executable).answer == "equal"


# ------------------------------------------------------------------------- objects, corpora, help


class Words:
    """An object with `encode` only: ids of its words, and another id for one phrase."""

    def __init__(self, phrase: str = "") -> None:
        self.name, self.phrase = "words", phrase

    def encode(self, text: str) -> list[int]:
        if "fail" in text and self.phrase:
            raise ValueError("a word that fails")
        return [len(word) for word in text.split()] + [0] * bool(
            self.phrase and self.phrase in text
        )


def test_a_corpus_shows_what_no_other_text_does(tmp_path: Path) -> None:
    one, two = Words(), Words("zebra crossing")
    assert compare.diff(one, two).answer == "undecided"
    corpus = ["a text", "long before a zebra crossing, and long after it " * 50]
    found = compare.diff(one, two, corpus=corpus)
    assert [each.text for each in found.differences] == ["zebra crossing"]
    assert found.differences[0].subject == "corpus"
    failing = compare.diff(one, two, corpus=["it will fail here"]).differences[0]
    assert (failing.text, failing.row_b) == ("fail", {"error": "ValueError: a word that fails"})


def test_what_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    for source in (3, None, Words, object()):
        with pytest.raises(OptionError, match="is no tokenizer: pass one of tokenizers"):
            compare.diff(source, DEFAULT)
    with pytest.raises(FileNotFoundError):
        compare.diff(DEFAULT, tmp_path / "none.json")
    with pytest.raises(UnknownNameError):
        compare.diff(DEFAULT, "no/such/file/here")
    assert "two tokenizers, or one and --baseline" in run("diff", "default").error
    assert "two tokenizers" in run("diff", "default", "default", "--baseline", "x").error


def test_a_text_that_contradicts_a_proof_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equality, "different_text", lambda *arguments: None)
    digits = set_pattern(QWEN_2.replace(r"|\p{N}|", r"|\p{N}{1,3}|"))
    with pytest.raises(MismatchError, match="ids are proved equal, and differ on '"):
        compare.diff(mutated(tmp_path), mutated(tmp_path, digits, name="b.json"))
