"""The functions of the package, and the encoders that they keep for the next call."""

from __future__ import annotations

import gc
import os
import shutil
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.support.tokenizers_drawn import DATA, VOCAB
from tokpar import calls

FILE = str(DATA / "default.json")
TEXT = "the cat sat on the mat"


def own() -> Tokenizer:
    return Tokenizer.from_file(FILE)


def test_a_tokenizer_is_let_go() -> None:
    tokenizer = own()
    for _ in "12":
        tokpar.encode(TEXT * 900, tokenizer)
    gone = weakref.ref(tokenizer)
    del tokenizer
    gc.collect()
    assert gone() is None


@pytest.mark.ids
@pytest.mark.parametrize("size", [1, 2000])
def test_a_tokenizer_that_changed_has_its_new_ids(size: int) -> None:
    tokenizer, text = own(), TEXT * size
    for change in (
        lambda: None,
        lambda: tokenizer.add_tokens([AddedToken("sat", normalized=False)]),
        lambda: tokenizer.enable_truncation(5),
        lambda: tokenizer.no_truncation(),
        lambda: tokenizer.add_tokens([AddedToken("mat", normalized=False)]),
    ):
        change()
        for _ in "12":
            assert tokpar.encode(text, tokenizer).ids.tolist() == tokenizer.encode(text).ids
            batch = tokpar.encode_batch([text] * 3, tokenizer)
            assert batch[2].ids.tolist() == tokenizer.encode(text).ids


@pytest.mark.ids
@pytest.mark.parametrize("directory", [True, False])
def test_a_file_that_changed_is_read_again(tmp_path: Path, directory: bool) -> None:
    file = tmp_path / "tokenizer.json"
    source = tmp_path if directory else file
    for k, path in enumerate((DATA / "default.json", VOCAB / "llama_style.json")):
        shutil.copy(path, file)
        os.utime(file, ns=(k, k))
        expected = Tokenizer.from_file(str(file)).encode(TEXT).ids
        for _ in "12":
            assert tokpar.encode(TEXT, source).ids.tolist() == expected
    file.unlink()
    with pytest.raises((FileNotFoundError, tokpar.FileFormatError)):
        tokpar.encode(TEXT, source)


@pytest.mark.ids
def test_threads_may_call_at_once() -> None:
    tokenizer, wrong = own(), list[Any]()
    expected = tokenizer.encode(TEXT * 500).ids

    def work() -> None:
        rows = (tokpar.encode(TEXT * 500, tokenizer, executor="threads").ids for _ in range(5))
        wrong.extend(row for row in rows if row.tolist() != expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_object_that_is_what_it_was_keeps_its_encoder() -> None:
    tokenizer = own()
    for _ in "12":
        tokpar.encode(TEXT, tokenizer)
    (kept,) = calls._object_encoders[tokenizer].values()
    tokpar.encode(TEXT, tokenizer)
    assert [*calls._object_encoders[tokenizer].values()] == [kept]
    tokenizer.enable_truncation(3)
    tokpar.encode(TEXT, tokenizer)
    assert [*calls._object_encoders[tokenizer].values()] != [kept]
