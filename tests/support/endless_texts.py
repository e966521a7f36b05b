"""Texts that are one endless pre-token, and their encodings."""

from __future__ import annotations

import random
from typing import Any

import tokpar
from tests.support.seams import plain_settings
from tokpar.results.encoding import Encoding

N = 3000


def drawn(alphabet: str, length: int = N) -> str:
    return "".join(random.Random(7).choices(alphabet, k=length))


CJK = "".join(map(chr, range(0x4E00, 0x9FA5)))


def encoded(tokenizer: Any, text: str, size: int | None, **settings: Any) -> Encoding:
    """The encoding by `auto`; its ids are the serial ones, and the checker agrees."""
    adapter = tokpar.load(tokenizer, **(settings or plain_settings(tokenizer)))
    options = {} if size is None else {"chunk_chars": size}
    with tokpar.Encoder(adapter, executor="serial", **options) as encoder:
        encoding = encoder.encode(text)
    assert encoding.ids.tolist() == adapter.encode(text).tolist()
    assert encoding.lossless
    report = tokpar.check(encoding, text, adapter)
    assert report.ok, report.findings
    return encoding


def rules(encoding: Encoding) -> set[str | None]:
    return {seam.rule for seam in encoding.seams}
