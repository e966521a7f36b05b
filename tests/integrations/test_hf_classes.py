"""The class and the attributes of a drop-in: what `datasets` hashes, and pickles by name."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tokpar
from tests.support.hf_sources import transformers_tokenizer
from tests.support.hf_values import plain
from tests.support.model_files import SMALL, folder, fresh
from tests.support.paths import ROOT

pytest.importorskip("transformers", reason="transformers is missing")
pytest.importorskip("jinja2", reason="jinja2 is missing")

TEXT = "The quick brown fox. " * 300
CALLS: tuple[dict[str, Any], ...] = (
    {},
    {"truncation": True, "max_length": 20},
    {"return_offsets_mapping": True, "return_tensors": "np"},
)
LOADS = """
import os, pickle, sys, transformers
for each in pickle.loads(sys.stdin.buffer.read()):
    if hasattr(os, "fork") and (child := os.fork()):
        os.waitpid(child, 0)
        continue
    print(pickle.loads(each).__qualname__, flush=True)
    if hasattr(os, "fork"):
        os._exit(0)
"""
HASHES = """
import sys, tokpar
from datasets.fingerprint import Hasher
from transformers import AutoTokenizer
own = AutoTokenizer.from_pretrained(sys.argv[1])
own.model_max_length = 10**6  # transformers notes in its attributes that it warned
drop_in = tokpar.as_hf(own)
hashes = []
for arguments in ({}, {"truncation": True, "max_length": 20}, {"return_offsets_mapping": True}):
    hashes += [Hasher.hash(drop_in), Hasher.hash(lambda rows: drop_in(rows["text"]))]
    drop_in("The quick brown fox. " * 300, **arguments)
    drop_in.tokenize("the quick")
print(hashes)
"""
MAPS = """
import os, sys, datasets, tokpar
from transformers import AutoTokenizer
own = AutoTokenizer.from_pretrained(sys.argv[1])
if not os.path.isdir(sys.argv[2]):
    texts = [("The quick brown fox. " * 300)[k:] for k in range(40)]
    datasets.Dataset.from_dict({"text": texts}).save_to_disk(sys.argv[2])
rows = datasets.load_from_disk(sys.argv[2])
cut = {"truncation": True, "max_length": 64}
expected = own(rows["text"][:], **cut)["input_ids"]
plain = AutoTokenizer.from_pretrained(sys.argv[1])
plain.model_max_length = 10**6
drop_in = tokpar.as_hf(plain)
for _ in range(2):
    found = rows.map(lambda batch: drop_in(batch["text"], **cut), batched=True,
                     num_proc=int(sys.argv[3]) if sys.argv[3] != "1" else None)
    assert found["input_ids"][:] == expected
    drop_in("The quick brown fox. " * 300)
"""


@pytest.mark.parametrize("name", SMALL)
def test_calls_change_no_attribute_and_the_attributes_are_those_of_the_original(name: str) -> None:
    own = fresh(name)
    own.model_max_length = 10**6  # transformers notes that it warned
    mine = tokpar.as_hf(own)
    assert vars(mine).keys() == vars(own).keys()
    before, notes = pickle.dumps(vars(mine)), plain(mine)
    for arguments in CALLS:
        mine(TEXT, **arguments)
        mine.tokenize("the quick")
        assert pickle.dumps(vars(mine)) == before
    assert plain(mine) == notes


@pytest.mark.parametrize("name", SMALL)
def test_the_class_is_found_by_its_name(name: str) -> None:
    kind = type(tokpar.as_hf(fresh(name)))
    assert getattr(import_module(kind.__module__), kind.__qualname__) is kind
    assert kind.__name__ == kind.__mro__[1].__name__
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_another_process_finds_each_class_by_its_name() -> None:
    """Each is the first in a process that loads transformers once and is forked for each class."""
    kinds = [type(tokpar.as_hf(fresh(name))) for name in SMALL]
    pickles = pickle.dumps([pickle.dumps(kind) for kind in kinds])
    done = subprocess.run(
        [sys.executable, "-c", LOADS], input=pickles, capture_output=True, cwd=ROOT
    )
    names = [kind.__qualname__ for kind in kinds]
    assert done.stdout.decode().split() == names, done.stderr.decode()


def test_two_classes_of_one_name_are_told_apart() -> None:
    def made() -> Any:
        base = type(transformers_tokenizer(fresh("bert").backend_tokenizer))
        return type("Own", (base,), {})

    both = [
        type(tokpar.as_hf(made()(tokenizer_object=fresh("bert").backend_tokenizer)))
        for _ in range(2)
    ]
    assert [pickle.loads(pickle.dumps(kind)) for kind in both] == both
    assert both[0] is not both[1]


def test_what_is_no_class_of_a_drop_in_is_no_attribute_of_the_module() -> None:
    from tokpar.integrations import hf_named_classes

    for name in ("nothing", "tokpar:nothing", "no/such/module:Kind"):
        with pytest.raises((AttributeError, ImportError)):
            getattr(hf_named_classes, name)


def test_what_is_kept_of_a_drop_in_ends_with_it() -> None:
    from tokpar.integrations import hf_classes

    mine = tokpar.as_hf(fresh("bert"))
    key = id(mine)
    mine("a")
    assert key in hf_classes._states
    del mine
    gc.collect()
    assert key not in hf_classes._states


def test_the_class_of_a_drop_in_may_be_set_to_its_own() -> None:
    mine = tokpar.as_hf(fresh("bert"))
    expected = mine("the man")["input_ids"]
    mine.__class__ = type(mine).__mro__[1]
    assert mine("the man")["input_ids"] == expected
    assert not hasattr(mine, "tokpar_calls")


@pytest.mark.parametrize("name", ["bert", "qwen"])
def test_the_hash_of_datasets_is_one_before_and_after_calls_and_in_two_processes(
    name: str, tmp_path: Path
) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed")
    done = [
        subprocess.run(
            [sys.executable, "-c", HASHES, str(folder(name))],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert done[0] == done[1]
    hashes = done[0].strip("[]\n").split(", ")
    assert len({*hashes[::2]}) == 1
    assert len({*hashes[1::2]}) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_map_finds_the_file_of_an_equal_run(workers: int, tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed")
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-c", MAPS, str(folder("bert")), str(tmp_path / "rows"), str(workers)],
            cwd=ROOT,
            check=True,
        )
    assert len([*(tmp_path / "rows").glob("cache-*.arrow")]) == workers
