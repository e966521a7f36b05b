"""Forged ids, seams and files, and the verdicts that no check may give on them.

python -m tests.support.attacks SEED SECONDS"""

from __future__ import annotations

import io
import json
import random
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import tokpar
from tests.support.adapters_drawn import contents_of, drawn_adapter, drawn_text
from tests.support.named_engine import chat_text, chat_tokenizer, drawn_spans, may_be_control
from tests.support.tokenizers_drawn import is_panic
from tokpar.arrays import IdArray
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.certificate.checker import check
from tokpar.certificate.findings import Level
from tokpar.certificate.id_proof import serial_ids
from tokpar.contract.adapter import token_bytes_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import ControlTokenError, EngineError, FileFormatError, OptionError
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Columns, Everywhere, Seams
from tokpar.types import Report, Rule, Seam, Theorem, Witness

WORDS = ["space", "non-space", "any", "gpt2", "cl100k", "o200k", "letter", "nl", "a", " ", "", "\0"]
NAMES = ["pattern", "left", "right", "absorbed", "proof", "run", "token", "spared", "scheme", "end"]
NUMBERS = [0, 1, 2, 3, -1, 7, 255, 2**31, 2**53, -(2**62)]
VALUES: list[int | str] = [*WORDS, *NUMBERS]


# ---------------------------------------------------------------------------------- ids


def forged_rows(rng: random.Random, adapter: Any, text: str, ids: IdArray) -> Iterator[IdArray]:
    """Rows near the ids of `text`, and rows that spell the same bytes in other tokens."""
    row = ids.tolist()
    k = rng.randrange(len(row) + 1)
    yield np.array([*row[:k], *row[k + 1 :]], dtype=np.uint32)
    yield np.array([*row[:k], *row[max(0, k - 1) :]], dtype=np.uint32)
    yield np.array(row[:k], dtype=np.uint32)
    yield np.array([*row[:k], *row[k : k + 2][::-1], *row[k + 2 :]], dtype=np.uint32)
    unknown = rng.choice([2**32 - 1, 2**31, 10**6, 0])
    yield np.array([*row[:k], unknown, *row[k + 1 :]], dtype=np.uint32)
    yield np.array([*row, rng.choice(row or [0])], dtype=np.uint32)
    letters = [adapter.encode(char) for char in text]
    yield np.concatenate([np.empty(0, dtype=np.uint32), *letters])
    half = rng.randrange(len(text) + 1)
    yield np.concatenate([adapter.encode(text[:half]), adapter.encode(text[half:])])
    if token_bytes_of(adapter) is not None:
        yield from _spelled_otherwise(rng, adapter, row)


def _spelled_otherwise(rng: random.Random, adapter: Any, row: list[int]) -> Iterator[IdArray]:
    """Rows in which one token is divided in two, or two are one, with the same bytes."""
    spelled = {adapter.token_bytes(id_): id_ for id_ in {*row, *range(600)}}
    for k in rng.sample(range(len(row)), min(4, len(row))):
        data = adapter.token_bytes(row[k]) or b""
        for cut in range(1, len(data)):
            left, right = spelled.get(data[:cut]), spelled.get(data[cut:])
            if left is not None and right is not None:
                yield np.array([*row[:k], left, right, *row[k + 1 :]], dtype=np.uint32)
        if k + 1 < len(row):
            both = spelled.get(data + (adapter.token_bytes(row[k + 1]) or b"?"))
            if both is not None:
                yield np.array([*row[:k], both, *row[k + 2 :]], dtype=np.uint32)


# -------------------------------------------------------------------------------- seams


def forged_seam(rng: random.Random, text: str, ids: IdArray, real: list[Seam]) -> Seam:
    """A seam with any rule, theorem and witness, or a real one with one field changed."""
    if real and rng.random() < 0.5:
        seam = rng.choice(real)
        position = rng.choice([seam.position, seam.position + 1, rng.randrange(len(text) + 2)])
        return replace(seam, position=position, token=rng.choice([seam.token, rng.randrange(99)]))
    witness: Witness = tuple(
        (rng.choice(NAMES), rng.choice(VALUES)) for _ in range(rng.randrange(4))
    )
    if real and rng.random() < 0.5:
        witness = rng.choice(real).witness
    theorem = rng.choice(list(Theorem))
    rule = rng.choice([theorem.rule, theorem.rule, rng.choice(list(Rule))])
    token = rng.choice([rng.randrange(len(ids) + 1), rng.choice(NUMBERS)])
    return Seam(rng.randrange(-1, len(text) + 2), rule, theorem, witness, token)


def forged_seams(rng: random.Random, text: str, ids: IdArray, real: Seams) -> Seams:
    """Some forged seams among real ones, and sometimes regions with a licence of its own."""
    planned = [real.planned.seam(k) for k in range(len(real.planned))]
    kept = [seam for seam in planned if rng.random() < 0.7]
    dense = [] if real.everywhere is None else [real.everywhere.licence]
    forged = [forged_seam(rng, text, ids, planned + dense) for _ in range(rng.randrange(1, 4))]
    seams = sorted([*kept, *forged], key=lambda seam: seam.position)
    everywhere = real.everywhere
    if rng.random() < 0.4:
        edges = sorted(rng.choice([0, len(text), rng.randrange(len(text) + 2)]) for _ in "ab")
        licence = replace(forged_seam(rng, text, ids, planned + dense), position=0, token=0)
        everywhere = Everywhere(licence, np.array([edges], dtype=np.int64))
    return Seams(Columns.of(seams), everywhere, None, real.proofs)


# -------------------------------------------------------------------------------- files


def mutated(rng: random.Random, data: bytes) -> bytes:
    """A certificate file with bytes changed, lost, doubled, or with another value in its header."""
    changed = bytearray(data)
    match rng.randrange(6):
        case 0:
            for _ in range(rng.randrange(1, 6)):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
        case 1:
            del changed[rng.randrange(len(changed)) :]
        case 2:
            k = rng.randrange(len(changed))
            changed[k:k] = changed[max(0, k - rng.randrange(20)) : k]
        case 3:
            k = rng.randrange(len(changed))
            del changed[k : k + rng.randrange(1, 9)]
        case 4:
            return _other_column(rng, data)
        case _:
            return _other_header(rng, data)
    return bytes(changed)


def _other_header(rng: random.Random, data: bytes) -> bytes:
    members = unzipped(data)
    header = json.loads(members["header.json"])
    at: Any = header
    while isinstance(at, dict | list) and at:
        key: Any = rng.choice(list(at)) if isinstance(at, dict) else rng.randrange(len(at))
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.8:
            at = at[key]
            continue
        at[key] = rng.choice([None, -1, 0, 1, 2**60, 1.5, "", "PAIR", [], {}, [[0, 1]], "plain"])
        break
    members["header.json"] = json.dumps(header).encode()
    return zipped(members)


def _other_column(rng: random.Random, data: bytes) -> bytes:
    """The file with a number of one of its columns changed, and right checksums."""
    members = unzipped(data)
    name = rng.choice([name for name in members if name != "header.json"])
    content = bytearray(members[name])
    if len(content) > 128:  # behind what numpy writes first
        content[rng.randrange(128, len(content))] = rng.randrange(256)
    members[name] = bytes(content)
    return zipped(members)


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


# ------------------------------------------------------------------------------- verdicts


def require_verdict(
    certificate: Any, text: str, adapter: TokenizerAdapter, serial: IdArray, seen: Counter[str]
) -> None:
    """Wrong ids pass neither `ids` nor `model`."""
    right = np.array_equal(certificate.ids, serial)
    for level in Level:
        report = check(certificate, text, adapter, level)
        seen[
            f"{level}: {'passed' if report else 'refused'}, ids {'right' if right else 'wrong'}"
        ] += 1
        assert right or not report, f"wrong ids pass level {level}: {certificate.ids} in {text!r}"


def attack(rng: random.Random, adapter: Any, seen: Counter[str]) -> None:
    """One text of one tokenizer: forged ids, then forged seams, then mutated files."""
    text = drawn_text(rng, contents_of(adapter), 14) * rng.choice([1, 1, 3])
    strategy = rng.choice(["auto", "cut", "lopt"])
    with tokpar.Encoder(adapter, strategy=strategy, workers=1) as encoder:
        encoding = encoder.encode(text)
    serial = serial_ids(text, adapter)
    report = check(encoding, text, adapter)
    assert report, f"right ids are refused: {report.findings[:2]} in {text!r}"
    own = adapter.encode(text)
    for ids in forged_rows(rng, adapter, text, own):
        seen["forged ids"] += 1
        require_verdict(replace(encoding, ids=ids), text, adapter, serial, seen)
    real = encoding.seams
    for _ in range(12):
        seams = forged_seams(rng, text, encoding.ids, real)
        ids = rng.choice([encoding.ids, *forged_rows(rng, adapter, text, own)])
        seen["forged seams"] += 1
        forged = Encoding.of(ids, seams, Report("forged", "forged"))
        require_verdict(forged, text, adapter, serial, seen)
    data = to_bytes(encoding, text, adapter.name)
    for _ in range(4):
        seen["mutated files"] += 1
        try:
            stored = from_bytes(mutated(rng, data))
        except FileFormatError:
            seen["files refused"] += 1
            continue
        require_verdict(stored, text, adapter, serial, seen)


def attack_trust(rng: random.Random, seen: Counter[str]) -> None:
    """Texts with untrusted spans of one drawn tokenizer: right ids pass, forged ids do not."""
    own, contents = chat_tokenizer(rng)
    data = json.loads(own.to_str())
    able = [each["content"] for each in data["added_tokens"] if may_be_control(data, each)]
    control = rng.sample(able, rng.randint(0, len(able)))
    known = [own.token_to_id(content) for content in control] or [0]
    adapter = tokpar.load(own, add_special_tokens=False)
    encoder = tokpar.Encoder(adapter)
    for _ in range(4):
        text = chat_text(rng, contents) * rng.choice([1, 1, 1, 6])
        spans = drawn_spans(rng, text)
        try:
            found = encoder.encode(text, untrusted=spans, control=control)
        except (ControlTokenError, OptionError, EngineError):
            continue
        except BaseException as error:
            if not is_panic(error):
                raise
            continue
        report = check(found, text, adapter, Level.IDS, spans, control)
        seen["ids: passed, ids right"] += 1
        assert report, f"right ids are refused: {report.findings[:2]} in {text!r}"
        for row in _forged_control(rng, found.ids.tolist(), known):
            for level in Level:
                forged = replace(found, ids=np.array(row, dtype=np.uint32))
                wrong = check(forged, text, adapter, level, spans, control)
                seen[f"{level}: refused, ids wrong"] += 1
                assert not wrong, f"wrong ids pass level {level}: {row} in {text!r}, {spans}"


def _forged_control(rng: random.Random, row: list[int], known: list[int]) -> list[list[int]]:
    """Rows with a control id more, less, elsewhere, or in the place of another id."""
    k, id_ = rng.randrange(len(row) + 1), rng.choice(known)
    rows = [[*row[:k], id_, *row[k:]], [*row[:k], id_, *row[k + 1 :]], [*row[:k], *row[k + 1 :]]]
    places = [k for k, each in enumerate(row) if each in known]
    if places:
        place = rng.choice(places)
        rest = [*row[:place], *row[place + 1 :]]
        k = rng.randrange(len(rest) + 1)
        rows += [rest, [*rest[:k], row[place], *rest[k:]]]
    return [each for each in rows if each != row]


def attack_tokenizer(rng: random.Random, seen: Counter[str], texts: int = 4) -> None:
    """Attack the check of one drawn tokenizer. A failure of its engine ends it."""
    try:
        adapter = drawn_adapter(rng)
    except OptionError:
        return
    seen["tokenizers"] += 1
    try:
        for _ in range(texts):
            attack(rng, adapter, seen)
    except EngineError:
        seen["engine errors"] += 1
    except BaseException as error:
        if not is_panic(error):
            raise
        seen["panics"] += 1


def main(seed: int, seconds: float) -> int:
    """Attack drawn tokenizers for so long. Prints counts, and the seed of each failure."""
    seen: Counter[str] = Counter()
    trusted: Counter[str] = Counter()
    begun, said, number, longest = time.monotonic(), time.monotonic(), 0, 0.0
    while time.monotonic() - begun < seconds:
        number += 1
        started = time.process_time()
        try:
            attack_tokenizer(random.Random(f"attacks {seed} {number}"), seen)
            attack_trust(random.Random(f"trust {seed} {number}"), trusted)
        except Exception as error:
            seen["failures"] += 1
            print(f"seed {seed} {number}: {type(error).__name__}: {error}"[:600], flush=True)
        longest = max(longest, time.process_time() - started)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"longest tokenizer {longest:.1f} s", dict(seen), flush=True)
    print(f"longest tokenizer {longest:.1f} s", dict(seen), "untrusted", dict(trusted), flush=True)
    return 1 if seen["failures"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))
