"""Loading a tokenizer with many or long added tokens gives the engine little work.

What is counted: calls of the engine, the characters that it encodes and decodes, and calls of
Python and C for the automaton of added tokens. No test looks at a clock."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import at_most, needs_kernel
from tests.support.paths import VOCAB
from tokpar.adapters.hf_look import EngineTokens
from tokpar.cuts.added_token_contents import ROOT, Contents, build_automaton
from tokpar.process import kernel_modules

MOST_CHARS = 5 << 17
"""Code points that the engine encodes, whatever the added tokens are."""
MOST_CALLS = 40
"""Calls of the engine, of any kind."""
KINDS = st.lists(
    st.tuples(st.sampled_from([1, 3, 40, 700]), st.sampled_from([3, 30, 900, 9_000, 70_000])),
    min_size=1,
    max_size=3,
).filter(lambda kinds: sum(count * size for count, size in kinds) < 1 << 17)
FILES = ("bert_part", "deepseek_part", "llama_style")


@contextmanager
def counted_work() -> Iterator[Counter[str]]:
    """Counts the calls of `tokenizers.Tokenizer` objects by name, and the code points of texts."""
    found: Counter[str] = Counter()

    def on_event(frame: FrameType, event: str, function: Any) -> None:
        if event != "c_call" or not isinstance(getattr(function, "__self__", None), Tokenizer):
            return
        found[function.__name__] += 1
        if function.__name__.startswith("encode"):
            given = frame.f_locals.get("texts", frame.f_locals.get("text", ""))
            given = [given] if isinstance(given, str) else given
            found["code points"] += sum(map(len, given))

    sys.setprofile(on_event)
    try:
        yield found
    finally:
        sys.setprofile(None)


def file_with_tokens(
    path: Path, name: str, kinds: list[tuple[int, int]], is_normalized: bool
) -> list[str]:
    """Writes a tokenizer file with so many added tokens of so many code points each. Returns their
    contents."""
    config = json.loads((VOCAB / f"{name}.json").read_text("utf-8"))
    contents = [
        f"<{k}-{number}>".ljust(size, "xyz"[k])
        for k, (count, size) in enumerate(kinds)
        for number in range(count)
    ]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    flags |= {"normalized": is_normalized, "special": not is_normalized}
    vocab = config["model"]["vocab"]
    first = 1 + max([*vocab.values(), *(each["id"] for each in config["added_tokens"])])
    config["added_tokens"] += [
        {"id": first + k, "content": content, **flags} for k, content in enumerate(contents)
    ]
    path.write_text(json.dumps(config), "utf-8")
    return contents


@needs_kernel
@pytest.mark.compiled_at_once
@at_most(8)
@given(
    name=st.sampled_from(FILES),
    kinds=KINDS,
    is_normalized=st.booleans(),
    from_path=st.booleans(),
)
@example(name="deepseek_part", kinds=[(1, 70_000)], is_normalized=False, from_path=True)
@example(name="deepseek_part", kinds=[(5_000, 9)], is_normalized=False, from_path=True)
@example(name="deepseek_part", kinds=[(180, 700)], is_normalized=False, from_path=False)
def test_loading_builds_few_engines_and_encodes_few_characters(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    kinds: list[tuple[int, int]],
    is_normalized: bool,
    from_path: bool,
) -> None:
    path = tmp_path_factory.mktemp("added") / "tokenizer.json"
    contents = file_with_tokens(path, name, kinds, is_normalized)
    own = Tokenizer.from_file(str(path))
    with counted_work() as work:
        encoder = tokpar.Encoder(path if from_path else own)
        encoder.prepare()
    is_large = EngineTokens.of(own).is_large
    is_shared = is_large and own.truncation is None and own.padding is None
    builds = (0 if from_path else 1) if is_shared else 2
    assert work["add_tokens"] <= builds
    assert work["get_added_tokens_decoder"] <= 4
    assert work["code points"] <= MOST_CHARS
    assert sum(work.values()) - work["code points"] <= MOST_CALLS
    text = f"one {contents[0]} two {contents[-1]}{contents[len(contents) // 2]} three"
    assert encoder.encode(text).ids.tolist() == own.encode(text).ids


@needs_kernel
def test_a_longer_added_token_takes_no_more_steps_of_python() -> None:
    """The compiled function walks through the bytes of all contents."""

    def steps(size: int) -> int:
        found = 0

        def on_event(*_: object) -> None:
            nonlocal found
            found += 1

        sys.setprofile(on_event)
        try:
            Contents(("<" + "ab" * size,))
        finally:
            sys.setprofile(None)
        return found

    steps(50)  # imports what it needs
    assert steps(50_000) <= steps(50) + 5


@needs_kernel
def test_the_tables_of_an_automaton_are_equal_however_they_are_made() -> None:
    contents = sorted({"ab" * k + tail for k in range(1, 30) for tail in ("", "c", "é", "<a")})
    rows = []
    for functions in (kernel_modules.CONTENTS, None):
        with patch.object(kernel_modules, "CONTENTS", functions):
            automaton = build_automaton([content.encode() for content in contents])
        nodes = automaton.table[ROOT:].reshape(-1, 4)
        first_children = np.where(nodes[:, 1] >> 8 > 0, nodes[:, 0], 0)  # of a leaf: any number
        arrays = automaton.table[:ROOT], first_children, nodes[:, 1:], automaton.edges
        rows.append([array.tolist() for array in (*arrays, automaton.depth)])
    assert rows[0] == rows[1]
