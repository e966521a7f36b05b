"""How long a chat takes in transformers and in `tokpar.as_hf` of the same tokenizer.

    python -m tests.benchmarks.drop_in --model FOLDER [--model FOLDER ...] --texts FILE.jsonl

A chat has 60 or 150 messages of 5,000 code points, and grows by one message a turn. "first": the
first turn of an object that has seen no text; "next": each turn after it, the median. Both sides
return lists, which are compared."""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

import tokpar
from tests.benchmarks import refuse_without_kernel
from tests.benchmarks.texts import read_texts

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
)
MESSAGES, SIZE, TURNS = (60, 150), 5000, 16


def chat_of(text: str, messages: int) -> list[dict[str, str]]:
    """Messages of user and assistant in turn."""
    return [
        {"role": ("user", "assistant")[k % 2], "content": text[k * SIZE : (k + 1) * SIZE]}
        for k in range(messages)
    ]


def milliseconds(tokenizer: Any, chat: Sequence[dict[str, str]]) -> tuple[float, Any]:
    start = time.perf_counter()
    ids = tokenizer.apply_chat_template(chat, return_dict=False)
    return 1e3 * (time.perf_counter() - start), ids


def without_cache(own: Any) -> Any:
    """A copy that has seen no text: its engine is its own, and copies of one tokenizer that have
    other added tokens share no cache."""
    twin = copy.copy(own)
    twin._tokenizer = copy.deepcopy(own._tokenizer)
    twin.add_tokens([AddedToken("<unseen>", normalized=False)])
    return tokpar.as_hf(twin)


def report(folder: str, text: str) -> None:
    from transformers import AutoTokenizer

    own = AutoTokenizer.from_pretrained(folder)
    own.model_max_length = 10**9  # nothing is logged
    if own.chat_template is None:
        own.chat_template = CHATML
    for messages in MESSAGES:
        mine, owns, mines = without_cache(own), [], []
        for turn in range(TURNS):
            chat = chat_of(text, messages + turn)
            (own_time, expected), (time_, found) = milliseconds(own, chat), milliseconds(mine, chat)
            assert found == expected, f"{messages} messages, turn {turn}: not the same"
            owns.append(own_time)
            mines.append(time_)
        later = statistics.median(mines[1:])
        row = f"{statistics.median(owns):,.0f} | {mines[0]:,.0f} | {later:,.0f}"
        print(f"| {folder} | {messages} | {row} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--model", action="append", required=True, help="folder of a tokenizer")
    parser.add_argument("--texts", required=True, type=Path, help='rows of JSON with a "text"')
    arguments = parser.parse_args()
    text = "".join(read_texts(arguments.texts))
    needed = (max(MESSAGES) + TURNS) * SIZE
    if len(text) < needed:
        sys.exit(f"{arguments.texts}: {needed:,} characters are needed, got {len(text):,}")
    print("| model | messages | transformers, ms | as_hf, first | as_hf, next |")
    print("|---" * 5 + "|")
    for folder in arguments.model:
        report(folder, text)


if __name__ == "__main__":
    refuse_without_kernel()
    main()
