"""Programs that fork or spawn workers as users do: each worker answers, and ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from urllib.request import urlopen

import pytest

from tests.support.fork_doors import README, of_file
from tests.support.forked_children import output_of
from tests.support.paths import ROOT
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
OF_ENGINE = """
own = of_file("segments")  # no compiled call: the engine, without its threads, encodes
encoder = tokpar.Encoder(own)
EXPECTED = [own.encode(text).ids for text in TEXTS]
"""
MAPPED = """
import datasets

def ids_of(rows):
    found = encoder.encode_batch(rows["text"])
    return {"ids": [row.ids.tolist() for row in found]}

if __name__ == "__main__":
    ended = threading.Event()
    def spin():
        while not ended.is_set():
            encoder.encode_batch(BATCH)
    threading.Thread(target=spin, daemon=True).start()
    rows = datasets.Dataset.from_dict({"text": TEXTS})
    for k in range(int(sys.argv[2])):
        found = rows.map(ids_of, batched=True, batch_size=2, num_proc=2, new_fingerprint=str(k))
        assert found["ids"][:] == EXPECTED
    ended.set()
    print("right")
"""
SERVED = """
import json

def spin():
    while os.getpid() == MASTER:
        encoder.encode_batch(BATCH)

MASTER = os.getpid()
threading.Thread(target=spin, daemon=True).start()

def app(environ, start_response):
    rows = encoder.encode_batch(TEXTS)
    start_response("200 OK", [("Content-Type", "application/json")])
    body = {"ids": [row.ids.tolist() for row in rows], "worker": os.getpid() != MASTER}
    return [json.dumps(body).encode()]
"""


def said_by(program: str, start: str, tmp_path: object, **variables: str) -> str:
    path = f"{tmp_path}/program.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(dedent(BEGIN + program))
    command, variables = [sys.executable, path, start, str(ROUNDS)], variables | {"PYTHONPATH": "."}
    return output_of(command, 60 + 60 * ROUNDS, **variables)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on this system")
def test_a_pool_of_forked_processes_returns_encodings_through_its_queue(tmp_path: object) -> None:
    assert said_by(POOL, "fork", tmp_path) == "right\n"


def test_a_pool_of_spawned_processes_returns_encodings_through_its_queue(tmp_path: object) -> None:
    assert said_by(POOL, "spawn", tmp_path) == "right\n"


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_data_loader_encode_in_both_epochs(start: str, tmp_path: object) -> None:
    pytest.importorskip("torch", reason="torch is large, and not installed")
    assert said_by(LOADER, start, tmp_path) == "right\n"


def test_datasets_maps_rows_in_two_processes_beside_a_busy_thread(tmp_path: object) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed")
    said = said_by(OF_ENGINE + MAPPED, "fork", tmp_path, HF_DATASETS_CACHE=f"{tmp_path}/cache")
    assert said.splitlines()[-1] == "right"


def test_workers_of_a_preloading_server_answer_beside_a_busy_master(tmp_path: Path) -> None:
    pytest.importorskip("gunicorn", reason="gunicorn is not installed")
    (tmp_path / "served.py").write_text(BEGIN + OF_ENGINE + SERVED, encoding="utf-8")
    own = of_file("segments")
    expected = [own.encode(README[k : k + 600]).ids for k in range(0, 6000, 600)]
    for _ in range(ROUNDS):
        with server_of(tmp_path) as address:
            for _ in range(6):
                with urlopen(address, timeout=100) as answer:
                    assert json.load(answer) == {"ids": expected, "worker": True}


@contextmanager
def server_of(folder: Path) -> Iterator[str]:
    """Yields the address of a gunicorn with two workers that serves `served.py`."""
    command = [sys.executable, "-m", "gunicorn", "--preload", "--workers", "2", "--timeout", "100"]
    log, path = folder / "log.txt", f"{folder}{os.pathsep}{ROOT}"
    with (
        log.open("w") as file,
        subprocess.Popen(
            [*command, "--bind", "127.0.0.1:0", "served:app"],
            stderr=file,
            cwd=ROOT,
            env=os.environ | {"TOKENIZERS_PARALLELISM": "true", "PYTHONPATH": path},
        ) as process,
    ):
        try:
            limit = time.monotonic() + 120
            while not (found := re.search(r"Listening at: (http://\S+)", log.read_text())):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < limit, log.read_text()
                time.sleep(0.05)
            yield found[1]
            assert "WORKER TIMEOUT" not in log.read_text()
        finally:
            process.terminate()
            try:
                process.wait(30)
            finally:
                process.kill()
