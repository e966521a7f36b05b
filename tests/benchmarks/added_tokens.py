"""Every door on texts full of added tokens, of growing sizes, with the tokenizer's own call beside.

    python -m tests.benchmarks.added_tokens FILE ... [--added 0,1000,10000] [--flags plain,special]
        [--texts mixed,words] [--doors encode,chunks] [--sizes 1000,10000] [--rounds 3]
        [--qwen-like NFC]

The texts "Chinese" and "no-break" have words instead of added tokens, and few cuts or none.

--qwen-like: the file gets the pattern of Qwen and this normalizer, and its added tokens are
searched before the normalizer.
FILE: a tokenizer.json, or a pattern of its own added tokens behind a colon (FILE:reserved), or
FILE:overlapping, which adds contents that overlap. A cell is the least processor time of a door
over that of `Tokenizer.encode`: below 1 tokpar is faster. A cell that grows with the size of the
text, or with the number of added tokens, is a stall. Sizes count occurrences of added tokens, or
words. The ids of every door are compared with those of `Tokenizer.encode`, of `as_hf` with those
of transformers.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.support.tokenizers_drawn import PATTERNS

FLAGS: dict[str, dict[str, bool]] = {
    "plain": {"normalized": False},
    "special": {"normalized": False, "special": True},
    "normalized": {"normalized": True},
    "lstrip": {"normalized": False, "lstrip": True},
    "rstrip": {"normalized": False, "rstrip": True},
    "single_word": {"normalized": False, "single_word": True},
}
OVERLAPPING = ("<a", "<a>", "a>b", "b<a", "<", "a>", *("<" * k + "a" for k in range(2, 30)))
STALLED = 20.0
"""Seconds after which a door is not tried with larger texts."""
WORDS = (
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog,",
    "and",
    "12",
    "puppies\n",
)


CHINESE = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子"
)


def text_of(kind: str, contents: Sequence[str], count: int) -> str:
    """A text with `count` added tokens, or prefixes of them."""
    draw = random.Random(f"{kind} {count}")
    if kind == "Chinese":
        sizes = (draw.randint(2, 12) for _ in range(count))
        return "".join("".join(draw.choices(CHINESE, k=k)) + draw.choice("，，。") for k in sizes)
    if kind == "no-break":
        return "\xa0".join(draw.choices(WORDS, k=count))
    if kind == "one":
        return contents[0] * count
    chosen = draw.choices(contents, k=count)
    if kind == "nearly":
        return "".join(content[:-1] for content in chosen)
    if kind == "words":
        return "".join(f"{content}{draw.choice(WORDS)} {draw.choice(WORDS)}" for content in chosen)
    if kind == "spaced":
        return " ".join(chosen)
    if kind == "turns":
        return "".join(content + " ".join(draw.choices(WORDS, k=40)) for content in chosen)
    return "".join(chosen)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time of all threads, and what the call gave."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


TEXTS = ("one", "mixed", "words", "spaced", "turns", "nearly", "Chinese", "no-break")


def tokenizer_of(path: str, qwen_like: str | None) -> Tokenizer:
    """The tokenizer of a file; with `qwen_like`, a normalizer, and Qwen's pattern."""
    config = json.loads(Path(path).read_bytes())
    if qwen_like is not None:
        split = {"type": "Split", "pattern": {"Regex": PATTERNS["qwen2"][0]}}
        stages = [
            split | {"behavior": "Isolated", "invert": False},
            config["decoder"]
            | {"type": "ByteLevel", "use_regex": False, "add_prefix_space": False},
        ]
        config["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": stages}
        config["normalizer"] = {"type": qwen_like}
        for token in config["added_tokens"]:
            token["normalized"] = False
    return Tokenizer.from_str(json.dumps(config))


def _flat(rows: Any) -> list[int]:
    return [int(id_) for id_ in chain.from_iterable(rows)]


def _batch(encoder: tokpar.Encoder, text: str) -> Any:
    return encoder.encode_batch([text, text])[1].ids.tolist()


def _session(encoder: tokpar.Encoder, text: str) -> Any:
    session = encoder.session()
    size = max(1000, len(text) // 20)
    for start in range(0, len(text), size):
        session.append(text[start : start + size])
    return session.ids.tolist()


def _typed(encoder: tokpar.Encoder, text: str) -> Any:
    """A text to which a few characters are appended, ten times."""
    session = encoder.session(text[:-10])
    for char in text[-10:]:
        session.append(char)
    return session.ids.tolist()


def _stream(encoder: tokpar.Encoder, text: str) -> list[int]:
    parts = (text[start : start + 200] for start in range(0, len(text), 200))
    return _flat(row.tolist() for row in encoder.stream(parts))


def _check(encoder: tokpar.Encoder, text: str) -> None:
    encoding = encoder.encode(text)
    report = tokpar.check(encoding, text, encoder.tokenizer)
    assert report.ok, report.findings


Door = Callable[[Any, tokpar.Encoder, str], Any]
DOORS: dict[str, Door] = {
    "object": lambda own, encoder, text: tokpar.encode(text, own).ids.tolist(),
    "encode": lambda own, encoder, text: encoder.encode(text).ids.tolist(),
    "batch": lambda own, encoder, text: _batch(encoder, text),
    "count": lambda own, encoder, text: encoder.count(text),
    "stream": lambda own, encoder, text: _stream(encoder, text),
    "session": lambda own, encoder, text: _session(encoder, text),
    "typed": lambda own, encoder, text: _typed(encoder, text),
    "chunks": lambda own, encoder, text: len(list(encoder.chunks(text, 512))),
    "check": lambda own, encoder, text: _check(encoder, text),
}


@cache
def _original(own: Tokenizer) -> Any:
    """The tokenizer of transformers whose call `as_hf` replaces."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=own)


@cache
def _view(own: Tokenizer) -> Any:
    return tokpar.as_hf(_original(own))


DOORS["as_hf"] = lambda own, encoder, text: _view(own)(text)["input_ids"]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+")
    parser.add_argument("--added", default="0,1000,10000")
    parser.add_argument("--flags", default="plain")
    parser.add_argument("--texts", default=",".join(TEXTS))
    parser.add_argument("--doors", default=",".join(DOORS))
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--qwen-like", choices=("NFC", "NFD", "NFKC", "NFKD"))
    args = parser.parse_args(argv)
    for file in args.files:
        for added in map(int, args.added.split(",")):
            for flags in args.flags.split(","):
                _table(file, added, flags, args)
    return 0


def _table(file: str, added: int, flags: str, args: argparse.Namespace) -> None:
    path, _, pattern = file.partition(":")
    own = tokenizer_of(path, args.qwen_like)
    own.no_truncation()
    own.no_padding()
    contents = [t.content for t in own.get_added_tokens_decoder().values()]
    if added:
        contents = [f"<|extra_{k}|>" for k in range(added)]
        own.add_tokens([AddedToken(c, **FLAGS[flags]) for c in contents])
    elif pattern == "overlapping":
        contents = list(OVERLAPPING)
        own.add_tokens([AddedToken(c, **FLAGS[flags]) for c in contents])
    elif pattern:
        contents = [c for c in contents if re.search(pattern, c)]
    loading, encoder = timed(partial(tokpar.Encoder, own))
    names = args.doors.split(",")
    title = f"{Path(path).name}:{pattern} + {added} {flags}, {len(contents)} contents"
    title += f", like Qwen with {args.qwen_like}" if args.qwen_like else ""
    print(f"\n{title}, loaded in {loading * 1e3:.0f} ms")
    print("| text | tokens | own ms | new | " + " | ".join(names) + " |")
    print("|" + "---|" * (4 + len(names)))
    for name in names:  # what a door prepares for its first text is not timed
        DOORS[name](own, encoder, text_of("mixed", contents, 300))
    stalled: set[str] = set()
    for kind in args.texts.split(","):
        for size in map(int, args.sizes.split(",")):
            text = text_of(kind, contents, size)
            expected = own.encode(text).ids
            own_time = _least(partial(own.encode, text), args.rounds)[0]
            cells = [kind, str(size), f"{own_time * 1e3:.2f}"]
            for name in ("new", *names):
                place = f"{kind} {name}"
                rounds = 1 if name == "new" else args.rounds
                if place in stalled:
                    cells.append("-")
                    continue
                door = DOORS["encode" if name == "new" else name]
                seconds, ids = _least(partial(door, own, encoder, text), rounds)
                _compare(
                    name, ids, _original(own)(text)["input_ids"] if name == "as_hf" else expected
                )
                cells.append(f"{seconds / own_time / (2 if name == 'batch' else 1):.2f}")
                if seconds > STALLED:
                    stalled.add(place)
            print("| " + " | ".join(cells) + " |", flush=True)


def _least(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The least seconds of some calls, and what the last one gave."""
    times = []
    for _ in range(rounds):
        seconds, result = timed(call)
        times.append(seconds)
        if seconds > 1:
            break
    return min(times), result


def _compare(name: str, ids: Any, expected: list[int]) -> None:
    if isinstance(ids, list) and ids != expected:
        raise SystemExit(f"{name}: the ids differ, nothing else matters")


if __name__ == "__main__":
    sys.exit(main())
