"""Certificates as files: what is written is read back, and nothing else is."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.certified import cl100k_case, encoding_of, kinds, regex_tokenizer
from tokpar.certificate.certificate_file import MAGIC, StoredCertificate, from_bytes, to_bytes
from tokpar.certificate.checker import check
from tokpar.certificate.packing import MOST_COLUMNS, most_unpacked
from tokpar.encoding import Encoding
from tokpar.errors import FileFormatError
from tokpar.seams import Columns, Everywhere, Seams
from tokpar.types import Report, Seam, Witness

Header = dict[str, Any]
Change = Callable[[Header, dict[str, bytes]], None]

LICENCES: dict[str, tuple[str, Witness]] = {
    "20": ("PAIR", (("pattern", "cl100k"), ("left", "non-space"), ("right", "space"))),
    "6.4": ("STAGE", (("absorbed", "1"),)),
    "29": ("EDGE", (("token", "<|im_end|>"), ("edge", "end"))),
    "40": ("PAIR", (("proof", "0" * 64),)),
}


@st.composite
def drawn_seams(draw: st.DrawFn) -> list[Seam]:
    """Seams of any rule, ascending."""
    positions = sorted(draw(st.sets(st.integers(1, 2**40), max_size=12)))
    seams = []
    for position in positions:
        theorem: Any = draw(st.sampled_from(["", *LICENCES]))
        rule, witness = LICENCES.get(theorem, (None, ()))
        seams.append(Seam(position, rule, theorem, witness, draw(st.integers(-1, 2**40))))
    return seams


def written(seams: Seams, ids: Sequence[int] = (), length: int = 100) -> bytes:
    encoding = Encoding.of(np.array(ids, dtype=np.uint32), seams, Report("by hand"))
    return to_bytes(encoding, "x" * length, "t", tokpar_version="1")


@given(drawn_seams(), st.lists(st.integers(0, 2**32 - 1), max_size=5))
def test_any_seams_and_ids_are_read_back(seams: list[Seam], ids: list[int]) -> None:
    stored = from_bytes(written(Seams.of(seams), ids))
    assert list(stored.seams) == seams
    assert stored.ids.tolist() == ids
    assert not stored.ids.flags.writeable
    assert stored.seams.planned.licences.__class__ is tuple
    assert len({*stored.seams.planned.licences}) == len(stored.seams.planned.licences)


ENDS = st.sets(st.integers(0, 100), min_size=2, max_size=12).map(sorted)


@given(ENDS, st.sets(st.integers(1, 99), max_size=12), st.data())
def test_any_regions_are_read_back(
    ends: list[int], positions: set[int], data: st.DataObject
) -> None:
    planned = Seams.of(Seam(p, "PAIR", "20", (), p) for p in sorted(positions)).planned
    if data.draw(st.booleans()):  # as a planner makes them: from one seam to the next
        ends = [0, *sorted(positions), 100]
    kept = data.draw(st.sets(st.integers(0, len(ends) - 2)).map(sorted))
    regions = np.array([(ends[k], ends[k + 1]) for k in kept], dtype=np.int64).reshape(-1, 2)
    licence = Seam(0, "PAIR", "20", (("pattern", "x"), ("many", "3")))
    read = from_bytes(written(Seams(planned, Everywhere(licence, regions)))).seams.everywhere
    assert read is not None
    assert read.licence == licence
    assert read.regions.tolist() == regions.tolist()


def columns_size(data: bytes) -> int:
    _, columns = opened(data)
    return sum(len(each) for name, each in columns.items() if name != "ids")


@pytest.mark.parametrize("rule", [*LICENCES])
@given(data=st.data())
def test_a_seam_costs_at_most_sixteen_bytes(rule: Any, data: st.DataObject) -> None:
    """Numbers as seams have them: regions of many seams, the others near the seam."""
    step = data.draw(st.integers(64, 1 << 16))
    many = np.random.default_rng(data.draw(st.integers(0, 99)))
    positions = np.cumsum(many.integers(1, 2 * step, 400))
    theorem, names = LICENCES[rule]
    beside = (positions[:, None] + many.integers(-256, 256, (400, 6))).tolist()
    seams = []
    for k, (position, near) in enumerate(zip(positions.tolist(), beside, strict=True)):
        region = int(positions[k // 50 * 50]) - 1, int(positions[min(399, k // 50 * 50 + 50)])
        numbers = [*region, *near]
        values = [numbers.pop(0) if value is None else value for _, value in names]
        witness = tuple((name, v) for (name, _), v in zip(names, values, strict=True))
        seams.append(Seam(position, rule, theorem, witness, position // 4))
    assert columns_size(written(Seams.of(seams))) <= 16 * len(seams)


def test_a_region_costs_a_few_bytes_whatever_it_holds() -> None:
    ends = np.arange(0, 1001) * 8192
    planned = Seams.of(
        Seam(int(p), "PAIR", "20", (("pattern", "x"),), int(p) // 4) for p in ends[1:-1]
    )
    regions = np.stack([ends[:-1], ends[1:]], axis=1)
    everywhere = Everywhere(Seam(0, "PAIR", "20", (("pattern", "x"),)), regions)
    assert len(written(Seams(planned.planned, everywhere))) < 2000


# ------------------------------------------------------------------------------- damaged files


def opened(data: bytes) -> tuple[Header, dict[str, bytes]]:
    """Header and columns, by the description of the format alone."""
    assert data.startswith(b"tokpar certificate\n")
    at = len(MAGIC) + 8
    stop = at + int.from_bytes(data[len(MAGIC) : at], "little")
    header = json.loads(data[at:stop])
    columns = {}
    for entry in header["columns"]:
        columns[entry["name"]] = data[stop : stop + entry["bytes"]]
        stop += entry["bytes"]
    assert stop == len(data)
    return header, columns


def closed(header: Header, columns: dict[str, bytes]) -> bytes:
    encoded = json.dumps(header).encode()
    return b"".join([MAGIC, len(encoded).to_bytes(8, "little"), encoded, *columns.values()])


def good() -> bytes:
    _, text, encoding = cl100k_case()
    positions = encoding.seams.planned.positions
    regions = np.array([(positions[0], positions[1]), (positions[3], positions[4])])
    everywhere = Everywhere(Seam(0, "PAIR", "20", (("pattern", "x"),)), regions)
    seams = Seams(encoding.seams.planned, everywhere)
    return to_bytes(Encoding.of(encoding.ids, seams, Report("by hand")), text, "t")


def entry_of(header: Header, name: str) -> Header:
    found: Header = next(entry for entry in header["columns"] if entry["name"] == name)
    return found


def with_column(name: str, values: list[int], dtype: str, coding: str = "plain") -> Change:
    def change(header: Header, columns: dict[str, bytes]) -> None:
        columns[name] = np.array(values, dtype=dtype).tobytes()
        entry_of(header, name).update(
            dtype=dtype, coding=coding, compression="none", count=len(values),
            bytes=len(columns[name]),
        )  # fmt: skip

    return change


def with_entry(name: str, **values: object) -> Change:
    return lambda header, columns: entry_of(header, name).update(values)


def without_column(name: str) -> Change:
    def change(header: Header, columns: dict[str, bytes]) -> None:
        header["columns"].remove(entry_of(header, name))
        del columns[name]

    return change


def doubled(header: Header, columns: dict[str, bytes]) -> None:
    header["columns"].append(entry_of(header, "ids") | {"count": 0, "bytes": 0})


def unknown(header: Header, columns: dict[str, bytes]) -> None:
    header["columns"].append(entry_of(header, "ids") | {"name": "more", "count": 0, "bytes": 0})


DAMAGES: list[tuple[Change, str]] = [
    (lambda h, c: h.update(format="other"), "format: expected"),
    (lambda h, c: h.update(format_version=4), "format_version: 4 is of a newer"),
    (lambda h, c: h.update(format_version="3"), "format_version: expected 3"),
    (lambda h, c: h.update(format_version=2), "format_version: expected 3"),
    (lambda h, c: h.update(text={}), "text.code_points: missing"),
    (lambda h, c: h["text"].update(code_points=-1), "text.code_points: expected a length"),
    (lambda h, c: h["text"].update(code_points=2**63), "text.code_points: expected a length"),
    (lambda h, c: h["text"].pop("sha256"), "text.sha256: missing"),
    (lambda h, c: h.update(report={}), "report.strategy: missing"),
    (lambda h, c: h.pop("tokenizer"), "tokenizer: missing"),
    (lambda h, c: h.update(licences=3), "licences: expected a list"),
    (lambda h, c: h["licences"][0].update(rule="K4"), r"licences\[0\].rule: .* PAIR, STAGE, EDGE"),
    (lambda h, c: h["licences"][0].pop("rule"), r"licences\[0\].rule"),
    (lambda h, c: h["licences"][0].update(theorem=20), r"licences\[0\].theorem"),
    (lambda h, c: h["licences"][0].update(witness=[["a"]]), r"licences\[0\].witness"),
    (lambda h, c: h.pop("untrusted"), "untrusted: missing"),
    (lambda h, c: h.update(untrusted=[[0, 1]]), "untrusted: expected no spans, got 1"),
    (lambda h, c: h["licences"][0].update(witness=[["a", 1]]), r"licences\[0\].witness"),
    (lambda h, c: h["licences"].clear(), "codes: expected numbers of the 0 licences"),
    (lambda h, c: h["everywhere"].update(witness=[["a", True]]), "everywhere.witness"),
    (lambda h, c: h["everywhere"].update(ends="x"), "everywhere.ends"),
    (lambda h, c: h.update(everywhere=[]), "everywhere: expected an object"),
    (lambda h, c: h.update(everywhere=None), "nothing is known of 'region starts'"),
    (lambda h, c: h.update(columns={}), "columns: expected list"),
    (lambda h, c: h.update(columns=[{}] * (MOST_COLUMNS + 1)), "columns: expected a list of at"),
    (lambda h, c: h.update(columns=[3]), r"columns\[0\]: expected an object"),
    (with_entry("ids", dtype="<u8"), "dtype: expected one of"),
    (with_entry("ids", dtype="|O"), "dtype: expected one of"),
    (with_entry("ids", coding="pickle"), "coding: expected one of"),
    (with_entry("ids", compression="lzma"), "compression: expected one of"),
    (with_entry("ids", count=-1), "count: expected a size"),
    (with_entry("ids", count=2**60), "count: expected a size"),
    (with_entry("ids", count=1.5), "count: expected a size"),
    (with_entry("ids", count=3), "3 numbers take 12 bytes"),
    (with_entry("ids", coding="steps"), "ids: expected plain numbers"),
    (with_entry("positions", count=2**40, compression="zlib"), "never become"),
    (with_column("ids", [1], "<i4"), "ids: expected plain numbers of type <u4"),
    (with_column("positions", [1, 2, 3, 4, 5, 6], "<u4"), "positions: expected a signed type"),
    (with_column("positions", [1, 2, 3, 4, 5], "<i1"), "seams: 5 positions, 6 tokens"),
    (with_column("positions", [1, 2, 2, 4, 5, 6], "<i1"), "positions: expected numbers from 0"),
    (with_column("positions", [-1, 2, 3, 4, 5, 6], "<i1"), "positions: expected numbers from 0"),
    (with_column("positions", [6, 5, 4, 3, 2, 1], "<i1"), "positions: expected numbers from 0"),
    (with_column("positions", [1, 2, 3, 4, 5, 2**63 - 1], "<i8"), "positions: expected numbers up"),
    (with_column("positions", [2**62] * 6, "<i8", "steps"), "positions: expected numbers up"),
    (with_column("positions", [1, 2, 3, 4, 5, 6], "<i1", "behind"), "no positions that it could"),
    (with_column("tokens", [0, 0, 0, 0, 0, -2], "<i1"), "tokens: expected numbers from -1"),
    (with_column("tokens", [0, 0], "<i1"), "seams: 6 positions, 2 tokens"),
    (with_column("codes", [0, 0, 0, 0, 0, 99], "<i1"), "codes: expected numbers of the"),
    (with_column("codes", [0, 0, 0, 0, 0, -1], "<i1"), "codes: expected numbers of the"),
    (with_column("region starts", [1], "<i1"), "regions: 1 starts, but 2 stops"),
    (with_column("region starts", [1, 99], "<i1"), "regions: expected numbers of the 8 edges"),
    (with_column("region starts", [-1, 3], "<i1"), "regions: expected numbers of the 8 edges"),
    (without_column("ids"), "ids: missing"),
    (without_column("tokens"), "tokens: missing"),
    (doubled, "names that differ"),
    (unknown, "nothing is known of 'more'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), DAMAGES)
def test_a_damaged_certificate_is_refused_with_the_name_of_what_is_wrong(
    change: Change, said: str
) -> None:
    header, columns = opened(good())
    assert closed(header, columns)  # what is changed is right
    from_bytes(closed(header, columns))
    change(header, columns)
    with pytest.raises(FileFormatError, match=said):
        from_bytes(closed(header, columns))


def test_every_truncated_file_is_refused() -> None:
    data = good()
    for stop in range(len(data)):
        with pytest.raises(FileFormatError):
            from_bytes(data[:stop])
    with pytest.raises(FileFormatError, match="bytes behind the header"):
        from_bytes(data + b"\0")


@given(st.data())
def test_a_changed_byte_is_refused_or_found_or_read_otherwise_but_raises_nothing_else(
    data: st.DataObject,
) -> None:
    file = bytearray(good())
    for _ in range(data.draw(st.integers(1, 3))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    tokenizer, text, _ = cl100k_case()
    try:
        stored = from_bytes(bytes(file))
    except FileFormatError:
        return
    check(stored, text, tokenizer)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "begins with"),
        (b"\x80\x04K\x01.", "begins with"),
        (MAGIC, "truncated"),
        (MAGIC + (2**63).to_bytes(8, "little"), "truncated"),
        (MAGIC + (2).to_bytes(8, "little") + b"[]", "expected an object"),
        (MAGIC + (2).to_bytes(8, "little") + b"\xff{", "expected JSON"),
        (MAGIC + (200_000).to_bytes(8, "little") + b"[" * 200_000, "expected JSON"),
    ],
)
def test_what_is_no_certificate_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(FileFormatError, match=said):
        from_bytes(data)


def test_a_column_that_unpacks_to_more_than_it_says_is_refused_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    header, columns = opened(good())
    bomb = zlib.compress(bytes(1 << 26), 9)
    columns["positions"] = bomb
    entry = entry_of(header, "positions")
    entry.update(dtype="<i1", coding="steps", compression="zlib", bytes=len(bomb), count=6)
    asked: list[int] = []
    original = zlib.decompressobj

    class Watched:
        def __init__(self) -> None:
            self.inner = original()

        def decompress(self, data: bytes, most: int) -> bytes:
            asked.append(most)
            return self.inner.decompress(data, most)

    monkeypatch.setattr("tokpar.certificate.packing.zlib.decompressobj", Watched)
    with pytest.raises(FileFormatError, match="expected zlib data of 6 bytes"):
        from_bytes(closed(header, columns))
    assert asked == [7]
    entry.update(count=1 << 26)
    assert 1 << 26 > most_unpacked(len(bomb)) > 0
    with pytest.raises(FileFormatError, match="never become"):
        from_bytes(closed(header, columns))
    assert asked == [7]


def test_a_column_of_equal_numbers_is_written_so_that_it_can_be_read() -> None:
    count = 1 << 18
    zeros = np.zeros(count, dtype=np.int64)
    planned = Columns(np.arange(1, count + 1), zeros, zeros, (("PAIR", "20", ()),))
    assert len(from_bytes(written(Seams(planned))).seams) == count


# ------------------------------------------------------------------------------- another text


def stored_case() -> tuple[Any, str, StoredCertificate]:
    tokenizer, text, encoding = cl100k_case()
    return tokenizer, text, from_bytes(to_bytes(encoding, text, "t"))


def others(text: str) -> Iterator[tuple[str, str]]:
    yield text + " ", "characters"
    yield text[:-1], "characters"
    yield "", "characters"
    yield text.replace("Hello", "Jello"), "sha256"


def test_another_text_is_a_finding_that_says_which() -> None:
    tokenizer, text, stored = stored_case()
    assert check(stored, text, tokenizer).ok
    for other, said in others(text):
        findings = check(stored, other, tokenizer).findings
        assert findings[0].kind == "text"
        assert said in findings[0].message


def test_another_tokenizer_is_a_finding() -> None:
    _, text, stored = stored_case()
    found = kinds(check(stored, text, regex_tokenizer("o200k")))
    assert "pattern" in found


def test_a_stored_certificate_without_seams_still_has_its_ids_compared() -> None:
    tokenizer, text, encoding = cl100k_case()
    plain = encoding_of(encoding.ids, ())
    stored = from_bytes(to_bytes(plain, text, "t"))
    assert check(stored, text, tokenizer, level="seams").ok
    changed = encoding.ids.copy()
    changed[[0, 1]] = changed[[1, 0]]
    wrong = from_bytes(to_bytes(encoding_of(changed, ()), text, "t"))
    assert kinds(check(wrong, text, tokenizer, level="seams")) == {"ids"}


@pytest.mark.parametrize("change", [lambda data: data + b"x", lambda data: data[:-1]])
def test_a_stream_ends_where_its_column_does(change: Callable[[bytes], bytes]) -> None:
    """What is unpacked has the right size, but bytes follow the stream, or its checksum is cut."""
    header, columns = opened(good())
    entry, stream = entry_of(header, "positions"), columns["positions"]
    if entry["compression"] == "none":
        stream = zlib.compress(stream)
    for data in (stream, change(stream)):
        columns["positions"] = data
        entry.update(compression="zlib", bytes=len(data))
        if data is stream:
            assert from_bytes(closed(header, columns)).ids.tolist() == [*from_bytes(good()).ids]
    with pytest.raises(FileFormatError, match="positions: expected zlib data of"):
        from_bytes(closed(header, columns))
