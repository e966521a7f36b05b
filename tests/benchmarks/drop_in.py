"""How much faster `tokpar.as_hf` makes the calls of a transformers tokenizer.

    python -m tests.benchmarks.drop_in --model FOLDER [--model FOLDER ...] --texts FILE.jsonl

Both objects are kept and take turns, call by call; results are Python lists on both sides. A ratio
is the time of the own call over that of tokpar: the median of all turns; in brackets least, most.
"first" is the first call of an object whose cache has seen no text."""

from __future__ import annotations

import argparse
import copy
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

import tokpar

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
)
CHATS = (60, 150)
"""Messages of 5,000 code points each."""
SIZES = (1_000_000, 100_000, 10_000, 2_000, 500)
Call = Callable[[Any], object]


def seconds(call: Call, tokenizer: Any) -> float:
    start = time.perf_counter()
    call(tokenizer)
    return time.perf_counter() - start


def in_turn(own: Any, mine: Any, call: Call, least_seconds: float = 4.0) -> str:
    """The ratio of the two, and the milliseconds of both."""
    call(mine)
    owns: list[float] = []
    mines: list[float] = []
    started = time.perf_counter()
    while len(owns) < 5 or (time.perf_counter() - started < least_seconds and len(owns) < 1000):
        owns.append(seconds(call, own))
        mines.append(seconds(call, mine))
    ratios = [a / b for a, b in zip(owns, mines, strict=True)]
    spread = f"({min(ratios):.2f}-{max(ratios):.2f})"
    both = f"{1e3 * statistics.median(owns):.2f} ms own, {1e3 * statistics.median(mines):.3f} ms"
    return f"{statistics.median(ratios):7.2f} {spread:18} {both}"


def first(own: Any, fresh: Callable[[], Any], call: Call) -> str:
    """The same of the first call, each time of a new object."""
    ratios, mines = [], []
    for _ in range(5):
        mine = fresh()
        before = seconds(call, own)
        mines.append(seconds(call, mine))
        ratios.append(before / mines[-1])
    spread = f"({min(ratios):.2f}-{max(ratios):.2f})"
    return f"{statistics.median(ratios):7.2f} {spread:18} {1e3 * statistics.median(mines):.3f} ms"


def chat_of(text: str, messages: int, size: int) -> list[dict[str, str]]:
    """Messages of `size` code points, of user and assistant in turn."""
    return [
        {"role": ("user", "assistant")[k % 2], "content": text[k * size : (k + 1) * size]}
        for k in range(messages)
    ]


def without_cache(own: Any) -> Callable[[], Any]:
    """Makes accelerated tokenizers that have seen no text. Each has an engine and an added token of
    its own, since copies of one tokenizer share a cache."""
    numbers = count()

    def fresh() -> Any:
        twin = copy.copy(own)
        twin._tokenizer = copy.deepcopy(own._tokenizer)
        token = f"<unseen {next(numbers)}>"
        twin.add_tokens([AddedToken(token, normalized=False)])
        return tokpar.as_hf(twin)

    return fresh


def call_of(text: str | list[str], **arguments: Any) -> Call:
    """Encodes `text` with a tokenizer, as users call it."""
    return lambda tokenizer: tokenizer(text, **arguments)


def chat_call(chat: list[dict[str, str]]) -> Call:
    return lambda tokenizer: tokenizer.apply_chat_template(chat, return_dict=False)


def calls(text: str) -> dict[str, Call]:
    """The calls that are timed, by name."""
    found = {f"{size:,} characters": call_of(text[:size]) for size in SIZES}
    found["1,000,000 characters, offsets"] = call_of(text[: SIZES[0]], return_offsets_mapping=True)
    found["1,000 texts of 2,000"] = call_of([text[k : k + 2000] for k in range(0, 2_000_000, 2000)])
    for messages in CHATS:
        found[f"chat of {messages} messages"] = chat_call(chat_of(text[3_000_000:], messages, 5000))
    return found


def report(folder: str, text: str) -> None:
    from transformers import AutoTokenizer

    own = AutoTokenizer.from_pretrained(folder)
    own.model_max_length = 10**9  # nothing is logged
    if own.chat_template is None:
        own.chat_template = CHATML
    start = time.perf_counter()
    mine = tokpar.as_hf(own)
    print(f"\n{folder}: {type(own).__name__}, as_hf {time.perf_counter() - start:.2f} s")
    fresh = without_cache(own)
    for name, call in calls(text).items():
        assert call(mine) == call(own), f"{name}: not the same"
        print(f"  {name:30} seen  {in_turn(own, mine, call)}")
        print(f"  {name:30} first {first(own, fresh, call)}")
    for messages in CHATS:
        print(f"  {f'chat of {messages}, grown by one':36} {grown(own, mine, text, messages)}")


def grown(own: Any, mine: Any, text: str, messages: int) -> str:
    """The ratio for a chat each time that a message was added: its segments are new."""
    chats = [chat_of(text[3_000_000:], n, 5000) for n in range(messages, messages + 16)]
    chat_call(chats[0])(mine)
    calls = [chat_call(chat) for chat in chats[1:]]
    both = [(seconds(call, own), seconds(call, mine)) for call in calls]
    ratios, mines = [a / b for a, b in both], [b for _, b in both]
    spread = f"({min(ratios):.2f}-{max(ratios):.2f})"
    return f"{statistics.median(ratios):7.2f} {spread:18} {1e3 * statistics.median(mines):.3f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", action="append", required=True, help="folder of a tokenizer")
    parser.add_argument("--texts", required=True, type=Path, help='rows of JSON with a "text"')
    arguments = parser.parse_args()
    rows = arguments.texts.read_text(encoding="utf-8").splitlines()
    text = "".join(json.loads(row).get("text", "") for row in rows)
    if len(text) < 4_000_000:
        sys.exit(f"{arguments.texts}: 4,000,000 characters are needed, got {len(text):,}")
    print(
        f"transformers {version('transformers')}, tokenizers {version('tokenizers')}, "
        f"Python {platform.python_version()}, {platform.machine()}"
    )
    for folder in arguments.model:
        report(folder, text)


if __name__ == "__main__":
    main()
