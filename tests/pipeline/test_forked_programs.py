"""Programs that fork or spawn workers as users do: each worker answers, and ends."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from tests.support.forked_children import output_of
from tests.support.profiles import is_quick

ROUNDS = 1 if is_quick() else 20
BEGIN = """
import multiprocessing, os, sys, threading
import tokpar
from tokenizers import Tokenizer
from tests.support.fork_doors import BATCH, README, of_file

own = of_file("compiled")
encoder = tokpar.Encoder(own)
TEXTS = [README[k : k + 600] for k in range(0, 6000, 600)]
EXPECTED = [own.encode(text).ids for text in TEXTS]
"""
POOL = """
def ids_of(text):
    rows = encoder.encode_batch([text, text])
    assert rows[0].ids.tolist() == rows[1].ids.tolist()
    return encoder.encode(text)

if __name__ == "__main__":
    ended = threading.Event()
    def spin():
        while not ended.is_set():
            encoder.encode_batch(BATCH)
    busy = threading.Thread(target=spin, daemon=True)
    if sys.argv[1] == "fork":
        busy.start()
    for _ in range(int(sys.argv[2])):
        context = multiprocessing.get_context(sys.argv[1])
        with context.Pool(2) as pool:
            found = pool.map_async(ids_of, TEXTS).get(60)
            assert [each.ids.tolist() for each in found] == EXPECTED
    ended.set()
    print("right")
"""
LOADER = """
import torch

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return len(TEXTS)
    def __getitem__(self, k):
        assert [row.ids.tolist() for row in encoder.encode_batch(TEXTS[:3])] == EXPECTED[:3]
        return torch.tensor(encoder.encode(TEXTS[k]).ids.astype("int64"))

if __name__ == "__main__":
    ended = threading.Event()
    def prefetch():
        while not ended.is_set():
            encoder.encode_batch(BATCH)
    busy = threading.Thread(target=prefetch, daemon=True)
    for _ in range(int(sys.argv[2])):
        loader = torch.utils.data.DataLoader(
            Rows(), batch_size=None, num_workers=2, multiprocessing_context=sys.argv[1], timeout=60
        )
        for epoch in range(2):
            if epoch == 1 and not busy.is_alive():
                busy.start()
            assert [ids.tolist() for ids in loader] == EXPECTED
    ended.set()
    print("right")
"""


def said_by(program: str, start: str, tmp_path: object) -> str:
    path = f"{tmp_path}/program.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(dedent(BEGIN + program))
    return output_of([sys.executable, path, start, str(ROUNDS)], 60 + 60 * ROUNDS, PYTHONPATH=".")


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on this system")
def test_a_pool_of_forked_processes_returns_encodings_through_its_queue(tmp_path: object) -> None:
    assert said_by(POOL, "fork", tmp_path) == "right\n"


def test_a_pool_of_spawned_processes_returns_encodings_through_its_queue(tmp_path: object) -> None:
    assert said_by(POOL, "spawn", tmp_path) == "right\n"


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_data_loader_encode_in_both_epochs(start: str, tmp_path: object) -> None:
    pytest.importorskip("torch", reason="torch is large, and not installed")
    assert said_by(LOADER, start, tmp_path) == "right\n"
