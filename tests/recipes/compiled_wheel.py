"""Does the installed tokpar answer by its compiled call? `python tests/recipes/compiled_wheel.py`

For one tokenizer of each kind: byte-level BPE, BPE over characters, WordPiece, ranks of tiktoken.
Prints a line for each, and ends with 1 if the engine encoded a text in place of the compiled call,
or if the ids of the two differ. Run from outside of the checkout, so that the wheel is imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tiktoken

import tokpar

ROOT = Path(__file__).resolve().parents[2]
VOCAB = ROOT / "tests" / "vocab"
FILES = ("deepseek_part.json", "llama_style.json", "bert_part.json")
_PATTERN = r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def sources() -> Iterator[tuple[str, Any]]:
    """Yields the name of each tokenizer, and what `tokpar.load` takes for it."""
    yield "default", "default"
    for name in FILES:
        yield name, str(VOCAB / name)
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257, b" the": 258}
    yield (
        "tiktoken",
        tiktoken.Encoding("small", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={}),
    )


def mistake(source: Any, texts: list[str]) -> str | None:
    """Returns why the compiled call of a tokenizer did not answer rightly, or None."""
    adapter: Any = tokpar.load(source)
    later = adapter.later_call
    call = None if later is None else later.wait()
    if call is None:
        return f"no compiled call: {'the tokenizer has none' if later is None else later.why_none}"
    for text in texts:
        for _ in range(3):  # again, from what was learned
            ids = call.encode_plain(text)
            if ids is None:
                return f"the compiled call left {text[:40]!r} to the engine"
            if ids.tolist() != adapter.encode(text).tolist():
                return f"the compiled call has other ids than the engine for {text[:40]!r}"
    return None


def main() -> int:
    text = (ROOT / "README.md").read_text("utf-8")
    texts = [text, *text.splitlines()]
    wrong = 0
    for name, source in sources():
        why = mistake(source, texts)
        wrong += why is not None
        print(f"{name}: {why or 'the compiled call'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
