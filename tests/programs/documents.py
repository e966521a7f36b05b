"""The texts that programs get: pages and sources of this repository, which every checkout has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout, also where the tests are a link to it."""
PAGES, SOURCES = ("docs/*.md", "proofs/*.md"), ("tokpar/*/*.py", "tests/*/*.py")


def documents(
    size: int = 20_000,
    count: int = 13,
    share: int = 0,
    kinds: Sequence[Sequence[str]] = (PAGES, SOURCES),
) -> list[str]:
    """Returns `count` texts of `size` code points, no two of which have a long line in common:
    pages and Python code, in turn, or the files of `kinds`. Another `share` gives other texts, for
    a row whose tokenizer has seen those of the rows before. Raises ValueError if the checkout has
    too few."""
    texts, each = [*map(_text_of, kinds)], -(-count // len(kinds))
    for text in texts:
        if len(text) < (share + 1) * each * size:
            raise ValueError(f"only {len(text):,} characters of a kind for share {share}")
    places = (k * size for k in range(share * each, (share + 1) * each))
    return [text[place : place + size] for place in places for text in texts][:count]


def growing_chats(
    size: int, share: int, turn: int = 500, turns: int = 6
) -> list[list[dict[str, str]]]:
    """Returns a chat of `size` characters and one turn, and the chats with each of its next `turns`
    of `turn` characters. Another `share` gives other turns."""
    roles = "user", "assistant"
    base = documents(size // 10, 10)
    chat = [{"role": roles[k % 2], "content": text} for k, text in enumerate(base)]
    grown = []
    for text in documents(turn, turns + 1, share):
        chat = [*chat, {"role": "user", "content": text}]
        grown.append(chat)
    return grown


def _text_of(patterns: Sequence[str]) -> str:
    files = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    lines = dict.fromkeys("\n".join(path.read_text("utf-8") for path in files).split("\n"))
    # tiktoken refuses a text that spells a special token, which some pages do
    return "\n".join(lines).replace("<|", "< |")
