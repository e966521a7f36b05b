"""Tables of merges on disk: found again, and believed only if they are whole and one's own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from tokenizers import Tokenizer, pre_tokenizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.merges_drawn import DrawnBPE, plain_bpe
from tests.support.tokenizers_drawn import VOCAB
from tokpar.cache.generations import Generation
from tokpar.cache.merges import Source
from tokpar.cache.new_segments import Pieces
from tokpar.cache.segments import Segments
from tokpar.cache.stored_tables import KIND, LEAST_KEPT, forget, key_of, read, write
from tokpar.types import AddedToken, Facts, NormalizerStage

pytestmark = [pytest.mark.ids, needs_kernel, pytest.mark.tables_at_once]

SEEDS = np.array([1, 2, 2**64 - 1], dtype=np.uint64)
TEXT = "some words, and 12 words more. " * 200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_classes: None) -> Path:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    monkeypatch.setattr("tokpar.cache.stored_tables.LEAST_KEPT", LEAST_KEPT)
    return tmp_path / KIND


def large() -> Tokenizer:
    return Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))


def made(tokenizer: Tokenizer) -> Pieces:
    adapter: Any = tokpar.load(tokenizer)
    pieces: Pieces | None = adapter.made_pieces(SEEDS)
    assert pieces is not None
    return pieces


def arrays(pieces: Pieces) -> list[list[int]]:
    machine, merges = pieces._machine, pieces._merges
    tokens = merges.tokens
    every = *machine.arrays, merges.table, merges.byte_ids, tokens.data, tokens.lengths, tokens.ids
    return [np.asarray(each).tolist() for each in (*every, merges.whole)]


def kept_file(folder: Path) -> Path:
    (path,) = folder.glob("*.tables")
    return path


class KeptFile(NamedTuple):
    """The name and content of a file of tables, and the arrays that were kept in it."""

    name: str
    content: bytes
    arrays: list[list[int]]


def test_tables_are_made_once_and_found_again(folder: Path) -> None:
    first = made(large())
    assert kept_file(folder).stat().st_size > 10_000
    with (
        patch("tokpar.cache.new_segments.machine_for", side_effect=AssertionError),
        patch("tokpar.adapters.hf_v0.merges_of", side_effect=AssertionError),
    ):
        again = made(large())
    assert arrays(again) == arrays(first)
    tokenizer = large()
    with tokpar.Encoder(tokenizer) as encoder:
        for _ in range(2):
            found = encoder.encode_batch([TEXT] * 3)
            assert [row.ids.tolist() for row in found] == [tokenizer.encode(TEXT).ids] * 3


def resealed(key: str, content: bytes) -> bytes:
    """What another program may have written under this name, with a seal."""
    return hashlib.sha256(key.encode() + content[32:]).digest() + content[32:]


def recounted(content: bytes, key: str, which: int, more: int) -> bytes:
    """Another length of one array, with a seal."""
    counts = np.frombuffer(content[32:120], dtype=np.int64).copy()
    counts[which] += more
    return resealed(key, content[:32] + counts.tobytes() + content[120:])


SPOILT: dict[str, Callable[[bytes, str], bytes]] = {
    "empty": lambda content, key: b"",
    "short": lambda content, key: content[:20],
    "a head alone": lambda content, key: resealed(key, content[:128]),
    "half a head": lambda content, key: resealed(key, content[:64]),
    "half": lambda content, key: content[: len(content) // 2],
    "half, sealed": lambda content, key: resealed(key, content[: len(content) // 2]),
    "no seal": lambda content, key: content[32:],
    "one bit": lambda content, key: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
    "the last bit": lambda content, key: content[:-1] + bytes([content[-1] ^ 1]),
    "the seal": lambda content, key: bytes([content[0] ^ 1]) + content[1:],
    "longer": lambda content, key: content + b"\0",
    "longer, sealed": lambda content, key: resealed(key, content + bytes(64)),
    "text": lambda content, key: b"something else" * 900,
    "another key": lambda content, key: resealed(key[::-1], content),
    "an array less": lambda content, key: recounted(content, key, 10, -(1 << 16)),
    "a greater array": lambda content, key: recounted(content, key, 5, 1 << 16),
    "a token without a length": lambda content, key: recounted(content, key, 8, -1),
    "no symbols": lambda content, key: recounted(content, key, 1, -1),
    "a negative length": lambda content, key: recounted(content, key, 3, -(1 << 40)),
    "an overflowing length": lambda content, key: recounted(content, key, 7, 2**63 - 1 - (1 << 20)),
}


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory: pytest.TempPathFactory, classes_folder: Path) -> KeptFile:
    """What one tokenizer keeps on disk."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tokpar.patterns.charclass_cache.directory", lambda kind: classes_folder)
        patched.setenv("TOKPAR_CACHE", str(folder))
        found = arrays(made(large()))
    path = kept_file(folder / KIND)
    return KeptFile(path.name, path.read_bytes(), found)


@pytest.mark.parametrize("how", SPOILT)
def test_a_file_that_is_not_whole_and_its_own_is_ignored(
    how: str, folder: Path, whole_file: KeptFile
) -> None:
    path = folder / whole_file.name
    path.parent.mkdir()
    path.write_bytes(SPOILT[how](whole_file.content, path.stem))
    assert read(path.stem) is None
    assert arrays(made(large())) == whole_file.arrays
    assert path.read_bytes() == whole_file.content


def test_a_folder_that_cannot_be_read_or_written_is_no_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.parent.joinpath(KIND).write_text("no folder")
    assert arrays(made(large()))
    monkeypatch.setenv("TOKPAR_CACHE", "")
    assert arrays(made(large()))
    forget("nothing")


def test_what_is_forgotten_is_made_again(folder: Path) -> None:
    first = made(large())
    forget(kept_file(folder).stem)
    assert list(folder.glob("*")) == []
    assert arrays(made(large())) == arrays(first)
    assert kept_file(folder)


def test_tables_that_the_engine_contradicts_are_kept_no_longer(folder: Path) -> None:
    pieces = made(large())
    assert kept_file(folder).is_file()
    pieces._mask, pieces._tokenize = 0, lambda piece: np.zeros(1, dtype=np.uint32)
    data = np.frombuffer(b"of new words" + bytes(16), dtype=np.uint8)
    one = np.array([0]), np.array([12]), np.zeros(1, dtype=np.uint8)
    with pytest.raises(tokpar.MismatchError, match="the engine has ids"):
        pieces.solve(Segments(data, *one), (Generation.empty(16), Generation.empty(16)))
    assert not list(folder.glob("*.tables"))


def config_of(drawn: DrawnBPE) -> str:
    split = {"type": "Split", "pattern": {"Regex": r"\s+|\S+"}, "behavior": "Isolated"}
    bytes_ = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "use_regex": False,
        "trim_offsets": False,
    }
    row = {"type": "Sequence", "pretokenizers": [split | {"invert": False}, bytes_]}
    return json.dumps({"pre_tokenizer": row, "model": drawn.config})


KINDS: list[dict[str, Any]] = [
    {"scheme": "regex"},
    {"byte_level": True},
    {"prefix_space": True},
    {"normalizers": (NormalizerStage("NFC"),)},
    {"added_tokens": (AddedToken("x", 9999, normalized=True),)},
]


def test_each_model_and_each_row_of_splits_has_its_own_tables(folder: Path) -> None:
    """A merge in another place, an id, `ignore_merges`, a pattern, the version: another key."""
    merges = [(chr(97 + k), chr(97 + j)) for k in range(26) for j in range(26)] * 8
    some = plain_bpe(merges)
    assert len(some.state) > LEAST_KEPT
    facts = Facts(engine="oniguruma", model="BPE", patterns=(r"\s+|\S+",))
    states = [
        some.state,
        replace(some, merges=[*merges[1:], merges[0]]).state,
        replace(some, ignore_merges=True).state,
        replace(some, vocab=some.vocab | {"xyz": 9999}).state,  # type: ignore[operator]
    ]
    sources = [Source.of(state) for state in states]
    keys = [key_of(facts, source, 999, "engine 1") for source in sources]
    keys.append(key_of(facts, sources[0], 999, "engine 2"))
    keys.append(key_of(replace(facts, patterns=(r"\s|\S+",)), sources[0], 999, "engine 1"))
    keys.append(key_of(replace(facts, engine="regex"), sources[0], 999, "engine 1"))
    keys.append(key_of(facts, sources[0], 998, "engine 1"))
    keys += [key_of(replace(facts, **one), sources[0], 999, "engine 1") for one in KINDS]
    assert len(set(keys)) == len(keys)
    assert None not in keys
    assert key_of(facts, Source.of(plain_bpe().state), 999, "engine 1") is None


def test_a_tokenizer_that_is_changed_does_not_find_the_tables_of_before(folder: Path) -> None:
    merges = [(chr(97 + k), chr(97 + j)) for k in range(26) for j in range(26)] * 8
    tokenizer = Tokenizer.from_str(config_of(plain_bpe(merges)))
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    text = "thequickbrownfox jumps over\n12 lazy  dogs" * 200
    changes: list[Callable[[], None]] = [
        lambda: None,
        lambda: setattr(tokenizer, "model", plain_bpe(merges[::-1]).engine),
        lambda: setattr(tokenizer, "pre_tokenizer", gpt2),
    ]
    for change in changes:
        change()
        for _ in range(2):
            assert tokpar.encode(text, tokenizer).ids.tolist() == tokenizer.encode(text).ids


def test_a_whole_file_of_another_key_is_ignored(folder: Path) -> None:
    pieces = made(large())
    path = kept_file(folder)
    write("another", pieces._machine, pieces._merges)
    (folder / "another.tables").replace(path)
    assert read(path.stem) is None


def test_nothing_is_kept_without_a_key(folder: Path) -> None:
    pieces = made(large())
    forget(kept_file(folder).stem)
    write(None, pieces._machine, pieces._merges)
    assert read(None) is None
    assert list(folder.glob("*")) == []
