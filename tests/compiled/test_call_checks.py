"""A compiled call refuses arrays that do not fit together, or stays inside its buffers."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_below_one, needs_kernel
from tests.support.damaged_calls import KINDS, drawn_arrays
from tests.support.paths import ROOT
from tests.support.profiles import drawn
from tests.support.tokenizers_drawn import DATA
from tokpar.compiled import compiled_build
from tokpar.process import kernel_modules

pytestmark = [pytest.mark.compiled_at_once, needs_below_one, needs_kernel]


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_of_changed_arrays_is_refused_or_stays_inside_its_buffers(kind: str) -> None:
    """A crash, a loop without end and a wrong type fail. AddressSanitizer finds each byte beside a
    buffer: `python -m tests.recipes.sanitized`."""
    count = drawn(400)
    command = [sys.executable, "-m", "tests.support.damaged_calls", kind]
    seed = str(random.randrange(1 << 30))
    done = subprocess.run(
        [*command, seed, str(count)], capture_output=True, text=True, timeout=600, cwd=ROOT
    )
    assert done.returncode == 0, f"{seed}: {done.stderr[-4000:]}"
    refused, encoded = map(int, done.stdout.split())
    assert refused + encoded == count
    assert min(refused, encoded) > count // 50


def test_a_table_of_pairs_without_a_free_slot_or_of_three_slots_is_refused() -> None:
    arrays, _ = drawn_arrays(random.Random(1), "bytes")
    full = np.zeros(len(arrays["pairs"]), np.uint64)
    for pairs in (full, full[:3], np.append(full, ~full[:1])):
        with pytest.raises(ValueError, match="do not fit together"):
            _make(arrays | {"pairs": pairs})
    _make(arrays)


@pytest.mark.parametrize("name", ["moves", "begins", "symbol_of", "symbol_of_all"])
def test_a_state_or_symbol_that_the_machine_does_not_have_is_refused(name: str) -> None:
    arrays, _ = drawn_arrays(random.Random(1), "bytes")
    spoilt = arrays[name].copy()
    spoilt[-1] = 255 if name.startswith("symbol") else 0x3FFFFF00
    with pytest.raises(ValueError, match="do not fit together"):
        _make(arrays | {name: spoilt})


def test_a_word_with_more_ids_than_bytes_is_refused() -> None:
    """So many ids have no room behind a text of such words."""
    arrays, _ = drawn_arrays(random.Random(1), "bytes")
    words = arrays["words"].reshape(-1, 4).copy()
    of_one_byte = np.flatnonzero(words[:, 1] == 1 << 56)
    words[of_one_byte, 2] += np.uint64(1) << np.uint64(28)
    with pytest.raises(ValueError, match="do not fit together"):
        _make(arrays | {"words": words.reshape(-1)})


@pytest.mark.parametrize("added", [b"\xc3", b"\xa9", b"a\xe4\xb8", b"\xa9\xc3", b"a\xf0\x90\x80"])
def test_an_added_token_that_would_cut_a_character_is_refused(added: bytes) -> None:
    """The segments beside it would be no texts: the list for the engine has them as str."""
    arrays, _ = drawn_arrays(random.Random(1), "bytes")
    for token, is_refused in ((added, True), (b"a" * len(added), False), ("aé中𐀀".encode(), False)):
        changes = {
            "added_bytes": np.frombuffer(token + bytes(8), np.uint8),
            "added_ends": np.array([len(token)], np.int64),
            "added_normalized": np.zeros(1, np.uint8),
            "added_flags": np.zeros(1, np.uint8),
            "added_ids": np.zeros(1, np.uint32),
        }
        if is_refused:
            with pytest.raises(ValueError, match="do not fit together"):
                _make(arrays | changes)
        else:
            _make(arrays | changes)


def test_a_token_of_bytes_above_unicode_reads_no_table_of_code_points_behind_its_end() -> None:
    from tokenizers import models, pre_tokenizers

    from tokpar.formats.vocabulary import letters_of

    token = letters_of(b"\xf4\xbf\xbf\xbf")
    vocab = {letters_of(bytes([byte])): byte for byte in range(256)} | {token: 256}
    tokenizer = Tokenizer(models.BPE(vocab, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    adapter: Any = tokpar.load(tokenizer)
    assert adapter.encode("a\U0010ffffb").tolist() == tokenizer.encode("a\U0010ffffb").ids


def test_mapped_tables_cannot_be_seeded() -> None:
    arrays, _ = drawn_arrays(random.Random(1), "bytes")
    for each in arrays.values():
        each.flags.writeable = False
    with pytest.raises(ValueError, match="do not fit together"):
        _make(arrays).seed(bytes(16 + 1), np.ones(1, np.int64), np.zeros(1, np.uint32), bytes(1))


@pytest.mark.parametrize("seed", range(drawn(20)))
def test_a_stored_table_with_a_flipped_bit_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    monkeypatch.setattr("tokpar.adapters.hf_call.LEAST_KEPT", 0)
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    text = "the ordinary words of an ordinary text, some of them new: quintuplicates"
    for _ in range(2):
        adapter: Any = tokpar.load(Tokenizer.from_str(tokenizer.to_str()))
        assert adapter.later_call.call.encode(text).tolist() == tokenizer.encode(text).ids
        [path] = (tmp_path / compiled_build.KIND).iterdir()
        content = path.read_bytes()
        damaged = np.frombuffer(content, np.uint8).copy()
        places = np.random.default_rng(seed).integers(0, 8 * len(content), 1 << seed % 16)
        damaged[places // 8] ^= (1 << places % 8).astype(np.uint8)
        path.write_bytes(damaged.tobytes())


def _make(arrays: dict[str, Any]) -> Any:
    assert kernel_modules.CALL is not None
    return kernel_modules.CALL.Call(arrays)
