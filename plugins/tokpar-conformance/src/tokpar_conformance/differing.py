"""Says in words where two arrays of ids differ, and shrinks a text for which something fails."""

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from tokpar.arrays import IdArray, byte_starts
from tokpar.contract.interfaces import Decodes, Locates, TokenizerAdapter

AROUND = 3  # ids shown before and after the first difference
Items = TypeVar("Items", str, tuple[str, ...])

SECONDS = 10.0
SIMPLE = "a b1"  # characters that replace others, the simplest first


def position_of(tokenizer: TokenizerAdapter, ids: IdArray, text: str, number: int) -> int | None:
    """Returns the code point at which id `number` of the text begins, or None if the tokenizer
    cannot say it."""
    if not isinstance(tokenizer, Locates):
        return None
    try:
        spans = tokenizer.locate(ids, text)
    except Exception:  # the tokenizer is under test, and the position is only for the message
        return None
    if len(spans) != len(ids):
        return None
    place = spans[number, 0] if number < len(spans) else byte_starts(text)[-1]
    return int(np.searchsorted(byte_starts(text), place, side="right")) - 1


def describe_ids(tokenizer: TokenizerAdapter, ids: IdArray, number: int) -> str:
    """Returns the ids near index `number` with their tokens, as a string:
    "... 11 ',' >262 ' the'< 5 'a' ..."."""
    first, last = max(0, number - AROUND), number + AROUND + 1
    words = [
        f">{token(tokenizer, id_)}<" if k == number else token(tokenizer, id_)
        for k, id_ in enumerate(ids[first:last].tolist(), start=first)
    ]
    words += [">end<"] if number >= len(ids) else []
    return " ".join(["..."] * (first > 0) + words + ["..."] * (last < len(ids)))


def token(tokenizer: TokenizerAdapter, id_: int) -> str:
    """Returns an id with the text that it decodes to, if the tokenizer can decode it."""
    if not isinstance(tokenizer, Decodes):
        return str(id_)
    try:
        return f"{id_} {tokenizer.decode([id_])!r}"
    except Exception:  # the id is no token: show the number alone
        return str(id_)


def show_text(text: str, most: int = 200) -> str:
    """Returns the text as a Python literal. A text above `most` code points loses its middle."""
    if len(text) <= most:
        return ascii(text) if not text.isprintable() else repr(text)
    return f"{text[: most // 2]!a} ... {text[-most // 2 :]!a}"


def smallest(items: Items, fails: Callable[[Items], bool], seconds: float = SECONDS) -> Items:
    """Shrinks `items` while `fails` stays true: removes slices, from half of the items down to
    single ones. After `seconds`, returns the best result so far."""
    end = time.monotonic() + seconds
    size = max(1, len(items) // 2)
    while size and items:
        before, start = len(items), 0
        while start < len(items) and time.monotonic() < end:
            shorter = items[:start] + items[start + size :]
            if fails(shorter):
                items = shorter
            else:
                start += size
        if size > 1 or len(items) == before or time.monotonic() >= end:
            size //= 2
    return items


def simplest(text: str, fails: Callable[[str], bool], seconds: float = SECONDS) -> str:
    """Shrinks the text as `smallest` does, then replaces characters by simpler ones while `fails`
    stays true: "xq é" -> "aa é"."""
    text = smallest(text, fails, seconds)
    end = time.monotonic() + seconds
    for i in range(len(text)):
        if time.monotonic() >= end:  # each try copies the text, which is slow for a long one
            break
        for character in SIMPLE[: SIMPLE.find(text[i]) % (len(SIMPLE) + 1)]:
            simpler = text[:i] + character + text[i + 1 :]
            if fails(simpler):
                text = simpler
                break
    return text
