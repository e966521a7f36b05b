"""An audit finds what was planted in shards, and nothing in clean ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from corpora import write_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from tokpar_corpus import audit
from written_shards import (
    FORMATS,
    KINDS,
    TEXTS,
    VOCAB,
    Kind,
    kind,
    names_of,
    write_megatron,
    write_numpy,
    write_parquet,
)

from tests.support.cli_runs import run
from tests.support.profiles import drawn
from tests.vocab.samples import ENGLISH, LANGUAGES, OTHER_CODE, PYTHON
from tokpar.encoder import Encoder
from tokpar.errors import FileFormatError, OptionError

GOLDEN = Path(__file__).parent / "golden"
Rows = list[list[int]]


def shards_of(folder: Path, rows: Rows, shards: int = 3) -> list[Path]:
    """Megatron shards with some documents each."""
    size = -(-len(rows) // shards)
    parts = [rows[k : k + size] for k in range(0, len(rows), size)]
    return [write_megatron(folder / f"shard-{k}", part) for k, part in enumerate(parts)]


# --------------------------------------------------------------------------- clean shards


@pytest.mark.parametrize("name", KINDS)
def test_clean_shards_have_no_fault(name: str, tmp_path: Path) -> None:
    of = kind(name)
    source = write_rows(tmp_path / "texts.jsonl", TEXTS)
    for format_, write in FORMATS.items():
        report = audit(
            write(tmp_path / f"{format_}-shard", of.documents(TEXTS)), of.adapter, against=source
        )
        assert names_of(report) == [], format_
        assert report.documents == len(TEXTS)
    texts = [*LANGUAGES, ENGLISH, PYTHON, OTHER_CODE]
    assert names_of(audit(write_numpy(tmp_path / "samples", of.documents(texts)), of.adapter)) == []


def test_both_ways_to_write_a_special_token_of_tiktoken_are_accepted(tmp_path: Path) -> None:
    of = kind("cl100k")
    encoding = of.adapter.encoding
    text = "one<|endoftext|>two"
    plain = encoding.encode(text, disallowed_special=())
    special = encoding.encode(text, allowed_special="all")
    assert plain != special
    report = audit(write_numpy(tmp_path / "shard", [plain, special]), of.adapter)
    assert names_of(report) == []
    assert any("special token that is written" in note for note in report.not_checked)
    source = write_rows(tmp_path / "texts.jsonl", [text])
    assert audit(write_numpy(tmp_path / "plain", [plain]), of.adapter, against=source)


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_special_token_in_the_input_has_the_ids_of_the_callers_tokenizer(
    is_allowed: bool, tmp_path: Path
) -> None:
    of = kind("cl100k")
    encoding, text = of.adapter.encoding, "one<|endoftext|>two"
    special = encoding.encode(text, allowed_special="all")
    plain = encoding.encode(text, disallowed_special=())
    allowed = frozenset(encoding.special_tokens_set) if is_allowed else frozenset()
    source = write_rows(tmp_path / "texts.jsonl", [text])
    adapter = of.adapter.allowing(allowed)
    for name, ids, is_right in (("special", special, is_allowed), ("plain", plain, not is_allowed)):
        report = audit(write_numpy(tmp_path / name, [ids]), adapter, against=source)
        assert names_of(report) == ([] if is_right else ["changed"])


def test_golden_shards_of_the_libraries_have_no_fault_but_a_bos_that_datatrove_leaves_out() -> None:
    source = GOLDEN / "documents.jsonl"
    megatron = audit(GOLDEN / "megatron.bin", kind("deepseek").adapter, against=source)
    assert (names_of(megatron), megatron.documents) == ([], 17)
    llama = kind("llama").adapter
    datatrove = audit(GOLDEN / "datatrove.ds", llama, against=source, bos="none")
    assert (names_of(datatrove), datatrove.documents) == ([], 17)
    assert [shard.dtype for shard in datatrove.shards] == ["uint16"]
    lacking = audit(GOLDEN / "datatrove.ds", llama)
    assert (names_of(lacking), lacking.of("bos").count) == (["bos"], 17)


# --------------------------------------------------------------------------- planted faults


class Planted(NamedTuple):
    """Documents of `tokenizer` that `plant` changed; the check that finds it, how often, the
    document and words of the first fault, and words of a note."""

    tokenizer: str
    plant: Callable[[Rows], object]
    check: str
    count: int
    document: int
    words: tuple[str, ...]
    note: str = ""


def put(rows: Rows, start: int, stop: int, change: Callable[[list[int]], list[int]]) -> None:
    rows[start:stop] = map(change, rows[start:stop])


PLANTED = {
    "bos dropped in one shard": Planted(
        "llama", lambda rows: put(rows, 4, 8, lambda ids: ids[1:]), "bos", 4, 0, ("1 '<s>'",)
    ),
    # the settings know of no BOS: the backend that lost it made the tokenizer, too
    "bos dropped in most shards": Planted(
        *("deepseek", lambda rows: put(rows, 0, 4, lambda ids: [0, *ids]), "bos"),
        *(len(TEXTS) - 4, 0, ("0 ",), "4 of 10 documents begin with 0"),
    ),
    "a truncated document": Planted(
        *("deepseek", lambda rows: rows[8].__delitem__(slice(20, -1)), "truncated", 1, 0),
        ("input row 8", "texts.jsonl:9"),
    ),
    "a doubled document": Planted(
        *("cl100k", lambda rows: rows.insert(6, rows[2]), "doubled", 1, 2),
        *(("input row 2 a second time",), "1 documents have the ids of an earlier one"),
    ),
    "a moved document": Planted(
        *("cl100k", lambda rows: rows.insert(7, rows.pop(1)), "order", 1, 3),
        ("input row 1 after input row 7",),
    ),
    "ids outside the vocabulary": Planted(
        "cl100k",
        lambda rows: put(rows, 3, 5, lambda ids: [99999999, *ids]),
        "range",
        2,
        3,
        ("9999",),
    ),
    "ids below 0": Planted(
        "cl100k", lambda rows: put(rows, 5, 6, lambda ids: [-1, *ids[1:]]), "range", 1, 1, ("-1",)
    ),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_fault_is_found_with_its_place(what: str, tmp_path: Path) -> None:
    planted = PLANTED[what]
    of = kind(planted.tokenizer)
    rows = of.documents(TEXTS)
    planted.plant(rows)
    source = write_rows(tmp_path / "texts.jsonl", TEXTS)
    paths = shards_of(tmp_path, rows)
    # what is out of range has no text to look for
    report = audit(paths, of.adapter, against=() if planted.check == "range" else source)
    assert names_of(report) == [planted.check]
    found = report.of(planted.check)
    first = found.shown[0]
    assert (found.count, first.document) == (planted.count, planted.document)
    assert sum(found.by_shard.values()) == planted.count
    assert all(word in f"{first.found} {first.expected}" for word in planted.words), first
    assert any(planted.note in note for note in [*report.notes, ""])
    if planted.check == "order":
        assert audit(paths, of.adapter, against=source, ordered=False)


def test_special_tokens_at_the_edges_are_found_when_there_must_be_none(tmp_path: Path) -> None:
    path = write_numpy(tmp_path / "shard", kind("llama").documents(TEXTS))
    report = audit(path, kind("llama").adapter, bos="none", eos="none")
    assert names_of(report) == ["bos", "eos"]
    assert report.of("bos").count == report.of("eos").count == len(TEXTS)


@pytest.mark.parametrize(("one", "other"), [("cl100k", "o200k"), ("o200k", "cl100k")])
def test_another_tokenizer_of_the_family_is_found(one: str, other: str, tmp_path: Path) -> None:
    path = write_numpy(tmp_path / "shard", kind(one).documents(TEXTS))
    report = audit(path, kind(other).adapter)
    assert not report
    assert {"range", "utf8", "ids"} & set(names_of(report))
    assert any("another one made them" in note for note in report.notes)


def test_a_tokenizer_with_another_normalizer_is_found(tmp_path: Path) -> None:
    config = json.loads((VOCAB / "bert_part.json").read_text(encoding="utf-8"))
    config["normalizer"]["lowercase"] = False
    cased = tmp_path / "cased.json"
    cased.write_text(json.dumps(config), encoding="utf-8")
    from tokpar_corpus.tokenizer_source import load_for_corpus

    rows = Kind("cased", load_for_corpus(str(cased), None, {}).adapter).documents(TEXTS)
    assert rows != kind("bert").documents(TEXTS)
    source = write_rows(tmp_path / "texts.jsonl", TEXTS)
    path = write_numpy(tmp_path / "shard", rows)
    report = audit(path, kind("bert").adapter, against=source)
    assert report.of("changed").count


@pytest.mark.parametrize("name", KINDS)
def test_a_page_of_zeros_is_found(name: str, tmp_path: Path) -> None:
    of = kind(name)
    rows = of.documents([TEXTS[8] * 60, *TEXTS])
    path = write_megatron(tmp_path / "shard", rows)
    with path.open("r+b") as file:
        file.seek(400)
        file.write(bytes(4096))
    report = audit(path, of.adapter)
    assert "runs" in names_of(report)
    [fault] = report.of("runs").shown[:1]
    assert fault.found.startswith("1,024 times 0 ") or len(rows[0]) < 1124


def test_data_of_another_dtype_than_the_index_says_is_found(tmp_path: Path) -> None:
    of = kind("llama")
    path = write_megatron(tmp_path / "shard", of.documents(TEXTS))
    wide = np.fromfile(path, "<i4").astype("<i8")
    wide.tofile(path)
    assert "index" in names_of(audit(path, of.adapter))


def test_ids_that_are_not_canonical_are_found_with_both_spellings(tmp_path: Path) -> None:
    of = kind("cl100k")
    letters = of.adapter.encoding.encode("H") + of.adapter.encoding.encode("ello")
    assert letters != of.adapter.encoding.encode("Hello")
    report = audit(write_numpy(tmp_path / "shard", [letters]), of.adapter)
    assert names_of(report) == ["ids"]
    [fault] = report.of("ids").shown
    assert "'H'" in fault.found
    assert "'Hello'" in fault.expected


def test_other_ids_of_a_text_of_the_input_are_found_beside_its_own_ids(tmp_path: Path) -> None:
    of = kind("cl100k")
    encode = of.adapter.encoding.encode
    texts, letters = ["Hello", "Hello", "Hello"], encode("H") + encode("ello")
    rows = [encode("Hello"), letters, encode("Hello")]
    source = write_rows(tmp_path / "texts.jsonl", texts)
    report = audit(write_numpy(tmp_path / "shard", rows), of.adapter, against=source)
    assert names_of(report) == ["ids", "missing", "extra"]
    alone = audit(write_numpy(tmp_path / "alone", [letters] * 3), of.adapter, against=source)
    assert alone.of("changed").count == 3


def test_a_text_is_not_taken_for_a_document_that_holds_it_beside_a_special_token(
    tmp_path: Path,
) -> None:
    of = kind("cl100k")
    own, end = of.adapter.encoding.encode("Hello"), of.adapter.encoding.eot_token
    rows = [own, [*own, end, *of.adapter.encoding.encode("x")]]
    source = write_rows(tmp_path / "texts.jsonl", ["Hello"])
    report = audit(write_numpy(tmp_path / "shard", rows), of.adapter, against=source)
    assert names_of(report) == ["extra"]
    assert [fault.document for fault in report.of("extra").shown] == [1]


def test_texts_of_checked_documents_are_not_encoded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, encoded = kind("deepseek"), []
    unprocessed = Encoder.unprocessed_batch

    def noting(self: Encoder, texts: Sequence[str], tokenizer: Any) -> Any:
        encoded.extend(texts)
        return unprocessed(self, texts, tokenizer)

    monkeypatch.setattr(Encoder, "unprocessed_batch", noting)
    path = write_numpy(tmp_path / "shard", of.documents(TEXTS))
    source = write_rows(tmp_path / "texts.jsonl", [*TEXTS, "a text without a document"])
    report = audit(path, of.adapter, against=source)
    assert names_of(report) == ["missing"]
    assert [text for text in encoded if text not in TEXTS] == ["a text without a document"]
    assert len(encoded) == len([text for text in TEXTS if text]) + 1


@pytest.mark.parametrize(("change", "found"), [(-6, "bytes of data"), (8, "bytes of data")])
@pytest.mark.parametrize("format_", ["megatron", "datatrove"])
def test_data_shorter_or_longer_than_its_index_is_found(
    format_: str, change: int, found: str, tmp_path: Path
) -> None:
    of = kind("cl100k")
    path = FORMATS[format_](tmp_path / "shard", of.documents(TEXTS))
    data = path.read_bytes()
    path.write_bytes(data + bytes(change) if change > 0 else data[:change])
    report = audit(path, of.adapter)
    assert names_of(report) == ["index"]
    assert found in report.of("index").shown[0].found


def test_packed_rows_are_joined_and_split_after_the_end_token(tmp_path: Path) -> None:
    of = kind("cl100k")
    flat = [id_ for ids in of.documents(TEXTS) for id_ in ids]
    rows = [flat[k : k + 16] for k in range(0, len(flat), 16)]
    path = write_parquet(tmp_path / "shard", rows)
    source = write_rows(tmp_path / "texts.jsonl", TEXTS)
    report = audit(path, of.adapter, packed=True, eos="<|endoftext|>", against=source)
    assert (names_of(report), report.documents) == ([], len(TEXTS))
    with pytest.raises(OptionError, match="packed shards need eos"):
        audit(path, of.adapter, packed=True)


def test_a_name_without_a_shard_and_an_unknown_token_are_one_clear_error(tmp_path: Path) -> None:
    adapter = kind("cl100k").adapter
    with pytest.raises(FileFormatError, match="not a shard that tokpar reads"):
        audit(GOLDEN / "documents.jsonl", adapter)
    for name in ("none.bin", "none.txt", "none/of/it"):
        with pytest.raises(OptionError, match=f"{name}: there is no such file or folder"):
            audit(tmp_path / name, adapter)
    (tmp_path / "empty").mkdir()
    with pytest.raises(OptionError, match="no shard there"):
        audit(tmp_path / "empty", adapter)
    with pytest.raises(OptionError, match="no token '<nope>'"):
        audit(write_numpy(tmp_path / "y", [[1]]), adapter, bos="<nope>")


def as_float(path: Path) -> None:
    """The dtype of an index becomes float64."""
    index = path.with_suffix(".idx")
    data = index.read_bytes()
    index.write_bytes(data[:17] + b"\x06" + data[18:])


DAMAGE: dict[str, Callable[[Path], object]] = {
    "dtype of floats": as_float,
    "no index": lambda path: path.with_suffix(".idx").unlink(),
    "no data": lambda path: path.unlink(),
    "index cut off": lambda path: cut_off(path.with_suffix(".idx"), 60),
    "header cut off": lambda path: cut_off(path.with_suffix(".idx"), 9),
    "another file": lambda path: path.with_suffix(".idx").write_bytes(b"something else" * 10),
}


def cut_off(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("damaged", [0, 2])
def test_a_shard_that_cannot_be_read_is_a_fault_and_all_others_are_audited(
    damage: str, damaged: int, tmp_path: Path
) -> None:
    of = kind("cl100k")
    rows = of.documents([f"{text} {k}" for k in range(4) for text in TEXTS])
    rows[len(rows) // 2] = [1, 1, 2]
    paths = shards_of(tmp_path, rows)
    expected = audit(tmp_path, of.adapter)
    DAMAGE[damage](paths[damaged])
    report = audit(tmp_path, of.adapter)
    found = report.of("readable")
    assert (found.count, dict(found.by_shard)) == (1, {str(paths[damaged]): 1})
    assert found.shown[0].found.startswith(str(paths[damaged].with_suffix("")))
    kept = [shard for shard in expected.shards if shard.name != str(paths[damaged])]
    assert list(report.shards) == kept
    assert report.of("ids") == expected.of("ids")
    assert expected.faults
    alone = audit(paths[damaged] if paths[damaged].exists() else tmp_path, of.adapter)
    assert alone.of("readable") == found
    outcome = run("corpus", "audit", tmp_path, "--tokenizer", VOCAB / "deepseek_part.json")
    assert (outcome.code, outcome.err) == (1, "")
    assert f"{found.shown[0].shard}: {found.shown[0].found}" in outcome.out


@pytest.mark.parametrize("format_", FORMATS)
def test_a_damaged_file_of_any_format_never_ends_the_audit_of_the_others(
    format_: str, tmp_path: Path
) -> None:
    of, rng = kind("cl100k"), random.Random(format_)
    documents = of.documents(TEXTS)
    good = FORMATS[format_](tmp_path / "good", documents)
    expected = audit(good, of.adapter)
    for case in range(drawn(60)):
        folder = tmp_path / str(case)
        folder.mkdir()
        FORMATS[format_](folder / "bad", documents)
        path = rng.choice(sorted(folder.iterdir()))
        data = bytearray(path.read_bytes())
        if rng.random() < 0.5:
            del data[rng.randrange(len(data)) :]
        else:
            for _ in range(rng.randrange(1, 4)):
                data[min(rng.randrange(len(data)), rng.randrange(200))] = rng.randrange(256)
        path.write_bytes(data)
        report = audit([good, folder], of.adapter)
        assert report.shards[0] == expected.shards[0]
        assert len(report.shards) + report.of("readable").count == 2


# --------------------------------------------------------------------------- drawn

STRANGE = ["##", "##a", "▁", " ▁ ", "<0x41>", "[UNK]", "[MASK] ", " <unk>", "x</s>y", "<｜User｜>"]
STRANGE += ["  ", "\n", "ﬁ", "İ", "e\u0301", *"\u0301中😀\x00\ufffd", "12345", "don't"]
LETTERS = st.characters(exclude_categories=["Cs"])
DRAWN_TEXT = st.lists(st.sampled_from(STRANGE) | st.text(LETTERS, max_size=4), max_size=6)
DRAWN = st.lists(DRAWN_TEXT.map(lambda parts: f"a{''.join(parts)}b"), min_size=2, max_size=6)


@given(DRAWN, st.sampled_from(KINDS), st.sampled_from(sorted(FORMATS)))
@settings(deadline=None)
def test_drawn_documents_have_no_fault(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], name: str, format_: str
) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    of = kind(name)
    path = FORMATS[format_](folder / "shard", of.documents(texts))
    report = audit(path, of.adapter, against=write_rows(folder / "texts.jsonl", texts))
    assert names_of(report) == []


FAULTS = ("drop", "double", "move", "cut", "id", "eos")


@given(DRAWN, st.sampled_from(["deepseek", "cl100k"]), st.sampled_from(FAULTS), st.data())
@settings(deadline=None)
def test_a_drawn_fault_is_found(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    name: str,
    fault: str,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    of = kind(name)
    clean = of.documents(texts)
    rows = [list(ids) for ids in clean]
    k = data.draw(st.integers(0, len(rows) - 1))
    if fault == "drop":
        del rows[k]
    elif fault == "double":
        rows.insert(k, rows[k])
    elif fault == "move":
        rows.insert(data.draw(st.integers(0, len(rows) - 1)), rows.pop(k))
    elif fault == "cut":
        del rows[k][data.draw(st.integers(0, len(rows[k]) - 2)) : -1]
    elif fault == "id":
        place = data.draw(st.integers(0, len(rows[k]) - 1))
        rows[k][place] = data.draw(st.integers(0, 200_000))
    else:
        del rows[k][-1]
    path = write_numpy(folder / "shard", rows)
    source = write_rows(folder / "texts.jsonl", texts)
    report = audit(path, of.adapter, against=source, eos=of.end or "auto")
    assert bool(report) == (rows == clean)
