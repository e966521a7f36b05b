"""Certificates as files: what is written is read back, and nothing else is."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.attacks import unzipped, zipped
from tests.support.certified import cl100k_case
from tokpar.certificate.certificate_file import StoredCertificate, from_bytes, to_bytes
from tokpar.certificate.checker import check
from tokpar.errors import FileFormatError
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Everywhere, Seams
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


# ------------------------------------------------------------------------------- damaged files


def opened(data: bytes) -> tuple[Header, dict[str, bytes]]:
    """Header and other members, by the description of the format alone."""
    members = unzipped(data)
    return json.loads(members.pop("header.json")), members


def closed(header: Header, members: Mapping[str, bytes]) -> bytes:
    return zipped({"header.json": json.dumps(header).encode(), **members})


def good() -> bytes:
    _, text, encoding = cl100k_case()
    positions = encoding.seams.planned.positions
    regions = np.array([(positions[0], positions[1]), (positions[3], positions[4])])
    everywhere = Everywhere(Seam(0, "PAIR", "20", (("pattern", "x"),)), regions)
    seams = Seams(encoding.seams.planned, everywhere)
    return to_bytes(Encoding.of(encoding.ids, seams, Report("by hand")), text, "t")


def npy(values: object, dtype: str) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(values, dtype=dtype))
    return file.getvalue()


def with_column(name: str, values: object, dtype: str) -> Change:
    """Another column: ids as they are, differences of the others."""
    return lambda header, members: members.update({f"{name}.npy": npy(values, dtype)})


def steps(name: str, values: list[int]) -> Change:
    return with_column(name, np.diff(values, prepend=0), "<i8")


def with_bytes(name: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda header, members: members.update({name: change(members[name])})


DAMAGES: list[tuple[Change, str]] = [
    (lambda h, c: h.update(format="other"), "format: expected"),
    (lambda h, c: h.update(format_version=5), "format_version: 5 is of a newer"),
    (lambda h, c: h.update(format_version="4"), "format_version: expected 4"),
    (lambda h, c: h.update(format_version=3), "format_version: expected 4"),
    (lambda h, c: h.update(text={}), "text.code_points: missing"),
    (lambda h, c: h["text"].update(code_points=-1), "text.code_points: expected a length"),
    (lambda h, c: h["text"].update(code_points=2**63), "text.code_points: expected a length"),
    (lambda h, c: h["text"].pop("sha256"), "text.sha256: missing"),
    (lambda h, c: h.update(report={}), "report.strategy: missing"),
    (lambda h, c: h.pop("tokenizer"), "tokenizer: missing"),
    (lambda h, c: h.update(licences=3), "licences: expected list"),
    (lambda h, c: h["licences"][0].update(rule="K4"), r"licences\[0\].rule: .* PAIR, STAGE, EDGE"),
    (lambda h, c: h["licences"][0].pop("rule"), r"licences\[0\].rule"),
    (lambda h, c: h["licences"][0].update(theorem=20), r"licences\[0\].theorem"),
    (lambda h, c: h["licences"][0].update(witness=[["a"]]), r"licences\[0\].witness"),
    (lambda h, c: h.pop("untrusted"), "untrusted: missing"),
    (lambda h, c: h.update(untrusted=[[1, 0]]), "untrusted: expected ascending"),
    (lambda h, c: h["licences"][0].update(witness=[["a", 1]]), r"licences\[0\].witness"),
    (lambda h, c: h["licences"].clear(), "codes: expected numbers of the 0 licences"),
    (lambda h, c: h["everywhere"].update(witness=[["a", True]]), "everywhere.witness"),
    (lambda h, c: h.update(everywhere=[]), "everywhere: expected an object"),
    (lambda h, c: h.update(everywhere=None), "nothing is known of 'regions'"),
    (lambda h, c: h.pop("proofs"), "proofs: missing"),
    (lambda h, c: h.update(proofs={"a": 1}), "proofs: expected an object of strings"),
    (with_column("ids", [1], "<u8"), "ids.npy: expected a row of whole numbers"),
    (with_column("ids", [1.5], "<f8"), "ids.npy: expected a row of whole numbers"),
    (with_column("ids", [[1]], "<u4"), "ids.npy: expected a row of whole numbers"),
    (with_column("ids", [1], ">u4"), "ids.npy: expected a row of whole numbers"),
    (with_column("ids", ["a"], "O"), "ids.npy: expected a row of whole numbers"),
    (with_bytes("ids.npy", lambda data: data[:-1]), "ids.npy: expected .* bytes, got"),
    (with_bytes("ids.npy", lambda data: data + b"\0"), "ids.npy: expected .* bytes, got"),
    (with_bytes("ids.npy", lambda data: data.replace(b"(", b"(9", 1)), "ids.npy: expected"),
    (with_column("ids", [1], "<i4"), "ids: expected numbers of type uint32, got int64"),
    (with_column("positions", [1, 2, 3, 4, 5, 6], "<u4"), "positions: expected numbers of type"),
    (steps("positions", [1, 2, 3, 4, 5]), "seams: 5 positions, 6 tokens"),
    (steps("positions", [1, 2, 2, 4, 5, 6]), "positions: expected numbers from 0"),
    (steps("positions", [-1, 2, 3, 4, 5, 6]), "positions: expected numbers from 0"),
    (steps("positions", [6, 5, 4, 3, 2, 1]), "positions: expected numbers from 0"),
    (steps("positions", [1, 2, 3, 4, 5, 2**63 - 1]), "positions.npy: expected numbers up"),
    (with_column("positions", [2**62] * 6, "<i8"), "positions.npy: expected numbers up"),
    (steps("tokens", [0, 0, 0, 0, 0, -2]), "tokens: expected numbers from -1"),
    (steps("tokens", [0, 0]), "seams: 6 positions, 2 tokens"),
    (steps("codes", [0, 0, 0, 0, 0, 99]), "codes: expected numbers of the"),
    (steps("codes", [0, 0, 0, 0, 0, -1]), "codes: expected numbers of the"),
    (steps("regions", [1, 2, 3]), "regions: expected starts and stops, got 3"),
    (lambda h, c: c.pop("ids.npy"), "ids: missing"),
    (lambda h, c: c.pop("tokens.npy"), "tokens: missing"),
    (lambda h, c: c.pop("regions.npy"), "regions: missing"),
    (lambda h, c: c.update({"more.npy": npy([1], "<u4")}), "nothing is known of 'more'"),
    (lambda h, c: c.update(more=b""), "more: expected a row of whole numbers"),
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
    with pytest.raises(FileFormatError, match="a whole zip file"):
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
        (b"", "a whole zip file"),
        (b"\x80\x04K\x01.", "a whole zip file"),
        (b"PK\x05\x06" + b"\xff" * 18, "a whole zip file"),
        (zipped({}), "header.json: missing"),
        (zipped({"header.json": b"[]"}), "expected an object"),
        (zipped({"header.json": b"\xff{"}), "expected JSON"),
        (zipped({"header.json": b"[" * 200_000}), "expected JSON"),
    ],
)
def test_what_is_no_certificate_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(FileFormatError, match=said):
        from_bytes(data)


def entries_changed(data: bytes, name: bytes, offset: int, value: bytes) -> bytes:
    """The zip file with other bytes in the entry of a member, in its directory."""
    changed = bytearray(data)
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02"))
    while data[at + 46 : at + 46 + len(name)] != name:
        at = data.index(b"PK\x01\x02", at + 1)
    changed[at + offset : at + offset + len(value)] = value
    return bytes(changed)


@pytest.mark.parametrize(
    ("offset", "value", "said"),
    [
        (24, (1 << 30).to_bytes(4, "little"), "never become"),
        (24, (129).to_bytes(4, "little"), "a whole zip file"),  # its checksum is another
        (24, (5000).to_bytes(4, "little"), "ids.npy|a whole zip file"),
        (16, b"abcd", "a whole zip file"),
        (10, (12).to_bytes(2, "little"), "stored or deflated"),
        (10, (14).to_bytes(2, "little"), "stored or deflated"),
        (10, (99).to_bytes(2, "little"), "stored or deflated"),
        (8, (1).to_bytes(2, "little"), "a whole zip file"),
        (42, (5).to_bytes(4, "little"), "a whole zip file"),
        (46, b"idx", "a whole zip file"),
    ],
)
def test_an_entry_that_says_otherwise_is_refused(offset: int, value: bytes, said: str) -> None:
    data = good()
    assert entries_changed(data, b"ids.npy", 24, b"") == data
    with pytest.raises(FileFormatError, match=said):
        from_bytes(entries_changed(data, b"ids.npy", offset, value))


def test_two_members_of_one_name_are_refused() -> None:
    file = io.BytesIO(good())
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("ids.npy", npy([1], "<u4"))
    with pytest.raises(FileFormatError, match="names that differ"):
        from_bytes(file.getvalue())


def test_a_member_that_unpacks_to_more_than_it_says_is_unpacked_no_further() -> None:
    """The bomb of 64 MB says that it has 256 bytes: less than 1 MB is unpacked."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", bytes(1 << 26), zipfile.ZIP_DEFLATED)
    bomb = file.getvalue()
    with pytest.raises(FileFormatError, match="never become"):
        from_bytes(bomb)
    said = entries_changed(bomb, b"header.json", 24, (256).to_bytes(4, "little"))
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="a whole zip file"):
        from_bytes(said)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


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
