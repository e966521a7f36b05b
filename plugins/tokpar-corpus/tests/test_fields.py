"""The field with the text: nested, of bytes, found by one rule in each kind of file."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import all_documents, contents, many, own_ids, write_rows
from tokpar_corpus import audit, build

from tests.support.cli_runs import run
from tests.support.profiles import drawn
from tokpar.cli.encodings import field_taken
from tokpar.cli.text_files import FIELDS, choose_field, kind_of, value_of
from tokpar.errors import FileFormatError

Row = dict[str, Any]
NAMES = ("data.text", "data", "text", "id", "data.meta.text")


def drawn_value(rng: random.Random, depth: int = 0) -> Any:
    """A value of JSON; often an object with names of `NAMES` in it."""
    if depth < 3 and rng.random() < 0.6:
        some = rng.sample(["text", "meta", "id", "data.text"], rng.randrange(4))
        return {name: drawn_value(rng, depth + 1) for name in some}
    return rng.choice(["a", "é 中", "", None, 3, ["x"], "two words"])


def drawn_row(rng: random.Random) -> Row:
    row = {name: drawn_value(rng) for name in rng.sample(NAMES, rng.randrange(1, 4))}
    if rng.random() < 0.7:
        row["data"] = {"text": f"nested {rng.random()}", "meta": {"text": "deep", "id": 3}}
    return row


def nested_value(row: Row, field: str) -> Any:
    """`value_of`, in other words."""
    if row.get(field) is not None:
        return row[field]
    value: Any = row
    for name in field.split("."):
        if type(value) is not dict or name not in value:
            return None
        value = value[name]
    return value if "." in field else None


@pytest.mark.parametrize("field", ["data.text", "data.meta.text", "text"])
def test_a_nested_field_gives_its_documents_with_pyarrow_and_without(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(field)
    for case in range(drawn(60)):
        rows = [drawn_row(rng) for _ in range(rng.randrange(1, 6))]
        if rng.random() < 0.5:  # all rows are good: pyarrow reads the block
            rows = [
                {"text": "t", "data": {"text": "a", "meta": {"text": "b"}}, "n": [1]}
                | ({field: "its own name"} if rng.random() < 0.3 else {})
                for _ in rows
            ]
        texts = [value_of(row, field) for row in rows]
        assert texts == [nested_value(row, field) for row in rows]
        source = tmp_path / f"{case}.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = {"tokenizer": "default", "field": field, "errors": "skip", "workers": 1}
        build(source, tmp_path / f"{case}-arrow", **options)
        with monkeypatch.context() as patched:
            patched.setattr("tokpar_corpus.json_rows.RowReader._arrow", None)
            build(source, tmp_path / f"{case}-lines", **options)
        expected = own_ids([text for text in texts if isinstance(text, str)])
        assert all_documents(tmp_path / f"{case}-lines") == expected, rows
        assert contents(tmp_path / f"{case}-arrow") == contents(tmp_path / f"{case}-lines"), rows


def write_table(path: Path, table: Any) -> Path:
    import pyarrow
    import pyarrow.parquet

    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=7)
    else:
        with pyarrow.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, 5)
    return path


def columns_of(pa: Any, texts: Sequence[str | None]) -> Iterator[tuple[str, Any]]:
    """The texts as a column of each type of Arrow that holds text, by name."""
    data = [None if text is None else text.encode() for text in texts]
    strings, binary = pa.array(texts, pa.string()), pa.array(data, pa.binary())
    yield from (("string", strings), ("binary", binary))
    yield "large_string", strings.cast(pa.large_string())
    yield "large_binary", binary.cast(pa.large_binary())
    yield "dictionary", strings.dictionary_encode()
    yield "dictionary_of_bytes", binary.dictionary_encode()
    if hasattr(pa, "string_view"):
        yield "string_view", pa.array(texts, pa.string_view())


@pytest.mark.parametrize("end", [".parquet", ".arrow"])
@pytest.mark.parametrize("field", ["text", "data.text", "data.meta.text"])
def test_columns_of_text_and_of_bytes_give_the_documents_of_the_rows(
    end: str, field: str, tmp_path: Path
) -> None:
    pa = pytest.importorskip("pyarrow")
    texts: list[str | None] = [*many(30), None, "é 中 😀"]
    expected = own_ids([text for text in texts if text is not None])
    for name, column in columns_of(pa, texts):
        if end == ".parquet" and "." in field and name.startswith(("dictionary", "string_view")):
            continue  # pyarrow writes no such file, or cannot read it
        *objects, last = field.split(".")
        for inner in reversed([*objects, last][1:]):
            column = pa.StructArray.from_arrays([column, pa.array(range(len(texts)))], [inner, "n"])
        first = field.split(".")[0]
        table = pa.table({"id": [str(k) for k in range(len(texts))], first: column})
        source = write_table(tmp_path / f"{name}{end}", table)
        manifest = build(
            source, tmp_path / name, tokenizer="default", field=field, errors="skip", workers=1
        )
        assert all_documents(tmp_path / name) == expected, name
        assert manifest.skipped == {"missing field": 1}


def test_bytes_that_are_no_utf8_are_a_fault_with_their_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for end in (".parquet", ".arrow"):
        table = pa.table({"text": pa.array([b"good", b"\xff", b"more"], pa.binary())})
        source = write_table(tmp_path / f"a{end}", table)
        with pytest.raises(FileFormatError, match=f"{source}, row 1: expected UTF-8"):
            build(source, tmp_path / f"out{end}", tokenizer="default")
        named = write_table(
            tmp_path / f"b{end}",
            pa.table({"text": ["x", "y"], "id": pa.array([b"one", b"\xff"], pa.binary())}),
        )
        options = {"tokenizer": "default", "document_id": "id", "format": "parquet"}
        with pytest.raises(FileFormatError, match=f"{named}, row 1: expected a str or an int"):
            build(named, tmp_path / f"ids{end}", **options)


def test_a_column_that_is_not_there_is_named_beside_those_that_are(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"data": [{"body": "x"}], "n": [1]})
    source = write_table(tmp_path / "a.parquet", table)
    for field in ("data.text", "data.body.x", "text", "n.text"):
        with pytest.raises(FileFormatError, match=rf"a column '{field}', got 'data' \(struct<body"):
            build(source, tmp_path / field, tokenizer="default", field=field)


# --------------------------------------------------------------------------- the rule


def test_the_field_is_a_usual_name_or_the_only_string_among_numbers() -> None:
    rng = random.Random(0)
    kinds = ("str", "number", "list", "dict", "NoneType")
    for _ in range(drawn(2000)):
        names = rng.sample([*FIELDS, "id", "story", "meta"], rng.randrange(5))
        row = {name: rng.choice(kinds) for name in names}
        known = [name for name in FIELDS if row.get(name) == "str"]
        strings = [name for name in row if row[name] == "str"]
        alone = len(strings) == 1 and all(kind in ("str", "number") for kind in row.values())
        expected = known[0] if known else strings[0] if alone else None
        assert choose_field(row) == expected, row
    assert [kind_of(value) for value in (1, 2.5, True, "a", [], {}, None)] == [
        *["number"] * 3,
        *["str", "list", "dict", "NoneType"],
    ]


ROWS: Sequence[Row] = (
    {"text": "one", "content": "two"},
    {"id": 7, "content": "two words"},
    {"id": "x", "body": "a body"},
    {"n": 1, "story": "only a string"},
)


@pytest.mark.parametrize("row", ROWS)
def test_each_command_takes_the_same_field_and_says_which(row: Row, tmp_path: Path) -> None:
    field = choose_field({name: kind_of(value) for name, value in row.items()})
    assert field is not None
    source = write_rows(tmp_path / "rows.jsonl", [])
    source.write_text("\n" + json.dumps(row) + "\n" + json.dumps({field: "and more"}) + "\n")
    texts, said = [row[field], "and more"], field_taken(field)
    counted = run("count", source)
    assert counted.out.split()[0] == str(sum(map(len, own_ids(texts))))
    assert counted.err == f"{source}: {said}\n"
    encoded = run("encode", source)
    assert [list(map(int, line.split())) for line in encoded.out.splitlines()] == own_ids(texts)
    assert encoded.err.startswith(f"{source}: {said}\n")
    assert said in run("try", "default", source).err
    words = ("corpus", "build", source, "--tokenizer", "default", "--out")
    assert run(*words, tmp_path / "dry", "--dry-run").err == f"{source}:2: {said}\n"
    assert run(*words, tmp_path / "out").err.startswith(f"{source}:2: {said}\n")
    assert all_documents(tmp_path / "out") == own_ids(texts)
    for quiet in (run("count", source, "--quiet"), run(*words, tmp_path / "q", "--quiet")):
        assert (quiet.code, quiet.err) == (0, "")
    named = run("count", source, "--field", field)
    assert (named.out, named.err) == (counted.out, "")


def test_a_row_whose_text_is_in_doubt_is_refused_by_each_command(tmp_path: Path) -> None:
    for number, row in enumerate(
        ({"id": "x", "messages": [1]}, {"id": "x", "text": None}, {"a": "x", "b": "y"}, {"n": 1})
    ):
        source = tmp_path / f"{number}.jsonl"
        source.write_text(json.dumps(row) + "\n")
        words = ("--tokenizer", "default", "--out", tmp_path / "out")
        for command in (("count",), ("encode",), ("corpus", "build", *words)):
            error = run(*command, source).err
            assert f"{source}:1: expected " in error, (command, error)
            assert "--field NAME chooses one" in error
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_build_with_the_wrong_field_names_the_fields_and_the_option(
    dry: tuple[str, ...], tmp_path: Path
) -> None:
    """For a row without the field and a field without a text, not for a broken line."""
    source = tmp_path / "rows.jsonl"
    words = ("corpus", "build", source, "--tokenizer", "default", "--out", tmp_path / "out", *dry)
    for others in ({}, {"wrong": 3}):
        source.write_text(json.dumps({"right": "a text"} | others) + "\n")
        error = run(*words, "--field", "wrong").error
        assert "'wrong'" in error
        assert others or "the fields are 'right'" in error
        assert "(--field NAME takes another field, --errors skip" in error
    source.write_text("{\n")
    assert "--field" not in run(*words, "--field", "text").error


def test_rows_that_do_not_tell_the_field_are_skipped_only_if_that_is_asked(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl.gz"
    rows = ["{", "[1]", '{"id": "x", "text": null}', '{"id": "y", "text": "good"}']
    source.write_bytes(gzip.compress("\n".join(rows).encode()))
    with pytest.raises(FileFormatError, match=rf"{source}:1: expected a JSON object"):
        build(source, tmp_path / "stop", tokenizer="default")
    manifest = build(source, tmp_path / "skip", tokenizer="default", errors="skip")
    assert (manifest.documents, sum(manifest.skipped.values())) == (1, 3)
    assert manifest.options.field == "text"


# --------------------------------------------------------------------------- audit and dry run


def test_a_dry_run_refuses_what_the_build_refuses(tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = ['{"body": "a"}', "{", '{"text": ["a"]}', '{"text": null}', '{"text": "good"}']
    for case in range(drawn(40)):
        some = ['{"text": "good"}', *rng.choices(lines, k=rng.randrange(4))]
        source = tmp_path / f"{case}.jsonl"
        source.write_text("\n".join(some))
        field = rng.choice(["text", "body", "nothing"])
        for errors in ("stop", "skip"):
            words = (source, "--tokenizer", "default", "--field", field, "--errors", errors)
            out = tmp_path / f"{case}-{errors}"
            built = run("corpus", "build", *words, "--out", out, "--quiet")
            dry = run("corpus", "build", *words, "--out", tmp_path / "dry", "--dry-run")
            assert (dry.code, dry.err) == (built.code, built.err), some
            if errors == "skip":
                skipped = json.loads((out / "manifest.json").read_text())["shards"][0]["skipped"]
                for kind, count in skipped.items():
                    assert f"skipped in the sample: {count} ({kind})" in dry.out
    assert not (tmp_path / "dry").exists()


@pytest.mark.parametrize("kind", ["content", "data.text", "lines"])
def test_an_audit_takes_field_and_format_from_the_manifest(kind: str, tmp_path: Path) -> None:
    texts = [text.replace("\n", " ").strip() or "empty" for text in many(40)]
    source = tmp_path / ("rows.txt" if kind == "lines" else "rows.jsonl")
    if kind == "lines":
        source.write_text("\n".join(texts))
    else:
        rows = [
            {"id": "x", "text": "not this", "content": text, "data": {"text": text}}
            for text in texts
        ]
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options: Row = {"lines": True} if kind == "lines" else {"field": kind}
    build(source, tmp_path / "shards", tokenizer="default", shard_size=1000, **options)
    report = audit(tmp_path / "shards", "default", against=source)
    assert report, [each for each in report.results if each.count]
    assert any("manifest" in note for note in report.notes) == (kind != "lines")
    one = sorted((tmp_path / "shards").glob("*.bin"))
    assert audit(one, "default", against=source).faults == 0
    assert (
        run(
            "corpus", "audit", tmp_path / "shards", "--tokenizer", "default", "--against", source
        ).code
        == 0
    )
    if kind == "content":  # an option goes before the manifest
        assert audit(tmp_path / "shards", "default", against=source, field="text").faults
