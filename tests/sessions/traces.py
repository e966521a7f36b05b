"""Cuts against what may stand beside them, and drawn transcripts of texts and pins."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import tokpar
from tests.support.adapters_drawn import contents_of, continuations, drawn_text, predecessors
from tokpar.contract.adapter import token_bytes_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.firm_cuts import FirmCuts
from tokpar.cuts.stable_cuts import StableCuts, Window, stable_cuts_for
from tokpar.sessions import editing, placeholders, session_bytes
from tokpar.sessions.rope import segments_after, slice_of
from tokpar.sessions.session import Session
from tokpar.types import Facts


@contextmanager
def small_segments(size: int, reach: int) -> Iterator[None]:
    """Segments of sessions are of `size` code points, between cuts that `reach` code points on
    either side certify."""

    def firm(facts: Facts) -> FirmCuts:
        return FirmCuts(stable_cuts_for(facts), reach)

    with ExitStack() as stack:
        both = {"SEGMENT": size, "COMPILED_SEGMENT": size}
        stack.enter_context(mock.patch.multiple(editing, **both))
        for module in (editing, placeholders, session_bytes):
            stack.enter_context(mock.patch.object(module, "firm_cuts_for", firm))
        yield


def check_edges(session: Session) -> None:
    """Each edge between two segments that an edit may meet is a firm cut of the text around it."""
    cuts = editing.firm_cuts_for(facts_of(session._tokenizer))
    state = session._state
    for rope in (state.rope, state.rope_by_itself):
        if rope is None:
            continue
        text = slice_of(rope, 0, rope.chars)
        for at, segment in segments_after(rope, 0):
            if at:
                seam = cuts.seam(text, at)
                assert seam is not None, (text, at)
                assert seam.absorbed == segment.absorbed_chars


def ids_of(adapter: TokenizerAdapter, text: str) -> list[int]:
    """The ids of one full encode, before post-processing."""
    return [int(id_) for id_ in adapter.encode(text)]


def check_stable(rng: random.Random, adapter: TokenizerAdapter, seen: Counter[str]) -> None:
    """Each stable cut of a drawn text against what may come after it (theorems 34, 35)."""
    cuts, tokens = stable_cuts_for(facts_of(adapter)), contents_of(adapter)
    text = drawn_text(rng, tokens, 10)
    window = Window(cuts, text, begins=True)
    for p in range(1, len(text)):
        seam = window.seam(p)
        if seam is None:
            continue
        left, skipped = ids_of(adapter, text[:p]), p + seam.absorbed
        for more in continuations(rng, tokens, text):
            seen["stable x continuation"] += 1
            whole = text + more
            assert ids_of(adapter, whole) == left + ids_of(adapter, whole[skipped:]), (whole, p)


def check_firm(rng: random.Random, adapter: TokenizerAdapter, seen: Counter[str]) -> None:
    """Each firm cut of a drawn text against what may stand before its window, and after it."""
    tokens, reach = contents_of(adapter), rng.choice((1, 2, 3, 5))
    firm = FirmCuts(stable_cuts_for(facts_of(adapter)), reach)
    text = drawn_text(rng, tokens, 10)
    for p in range(1, len(text)):
        seam = firm.seam(text, p)
        if seam is None:
            continue
        window = text[p - reach : p + reach]
        further = continuations(rng, tokens, window)
        for before in predecessors(rng, tokens, window):
            seen["firm x around"] += 1
            whole, at = before + window + rng.choice(further), len(before) + reach
            right = ids_of(adapter, whole[at + seam.absorbed :])
            assert ids_of(adapter, whole) == ids_of(adapter, whole[:at]) + right, (whole, at)


def check_costable(rng: random.Random, adapter: TokenizerAdapter, seen: Counter[str]) -> None:
    """Each co-stable cut of a drawn text against what may stand before it, and after it."""
    cuts, tokens = stable_cuts_for(facts_of(adapter)), contents_of(adapter)
    text = drawn_text(rng, tokens, 10)
    ends = rng.random() < 0.6
    window = Window(cuts, text, ends=ends)
    for p in range(1, len(text)):
        seam = window.seam(p)
        if seam is None:
            continue
        further = [""] if ends else continuations(rng, tokens, text)
        for before in predecessors(rng, tokens, text):
            seen["co-stable x predecessor"] += 1
            whole, at = before + text + rng.choice(further), len(before) + p
            right = ids_of(adapter, whole[at + seam.absorbed :])
            assert ids_of(adapter, whole) == ids_of(adapter, whole[:at]) + right, (whole, at)


def drawn_pin(rng: random.Random, adapter: TokenizerAdapter, tokens: tuple[str, ...]) -> list[int]:
    """Ids of a pin: those of a drawn text, some of them, or any ids that have bytes."""
    own = ids_of(adapter, drawn_text(rng, tokens, 6))
    if rng.random() < 0.3:
        return own[: rng.randint(0, len(own))]
    if rng.random() < 0.3:
        own = [rng.choice((*own, rng.randrange(300))) for _ in range(rng.randint(1, 4))]
    token_bytes = token_bytes_of(adapter)
    assert token_bytes is not None
    return [id_ for id_ in own if token_bytes(id_) is not None]


def expected_row(adapter: TokenizerAdapter, pin: bytes, text: str) -> list[int]:
    """The ids of a text after a pin by the definition: P2 where it applies, else P1."""
    before = pin.decode()
    alone, both = ids_of(adapter, before), ids_of(adapter, before + text)
    return both[len(alone) :] if both[: len(alone)] == alone else ids_of(adapter, text)


def check_regions(adapter: TokenizerAdapter, session: Session) -> None:
    """What the session says of its regions is so: with the rest encoded, they make up all ids."""
    regions, own = session.canonical, session.unprocessed_ids.tolist()
    edges = [(region.start, region.first) for region in regions]
    assert edges == [(0, 0)] + [(region.stop, region.last) for region in regions[:-1]]
    assert not regions or (regions[-1].stop, regions[-1].last) == (len(session), len(own))
    if any(region.state == "undecidable" for region in regions):
        return
    found: list[int] = []
    for region in regions:
        encoded = ids_of(adapter, session.text[region.start : region.stop])
        given = own[region.first : region.last]
        assert region.state == "canonical" or given != encoded
        found += given if region.state == "canonical" else encoded
    assert found == ids_of(adapter, session.text)


def check_pins(rng: random.Random, adapter: TokenizerAdapter, seen: Counter[str]) -> None:
    """A session of texts and pins, with edits of the last text, against the definition."""
    tokens = contents_of(adapter)
    session = tokpar.Encoder(adapter).session(drawn_text(rng, tokens, 6))
    rows, pin = [session.unprocessed_ids.tolist()], b""
    token_bytes = token_bytes_of(adapter)
    assert token_bytes is not None
    for _ in range(6):
        start = len(session) if rng.random() < 0.5 else sum_of(session)
        old = session.unprocessed_ids.tolist()
        if rng.random() < 0.4:
            ids = drawn_pin(rng, adapter, tokens)
            added = b"".join(token_bytes(id_) or b"" for id_ in ids)
            pin = pin + added if len(session) == sum_of(session) and pin else added
            patch = session.pin(ids)
            rows, text = [*rows, ids, []], ""
            seen["pins"] += 1
        else:
            more = drawn_text(rng, tokens, 4)
            if rng.random() < 0.3:
                patch = session.append(Session(session._encoder, more))
                seen["sessions appended after a pin"] += bool(pin)
            else:
                patch = session.replace(start, rng.randint(start, len(session)), more)
            text = session.text[sum_of(session) :]
        assert old[: patch.replace_from] + patch.replacement_ids.tolist() == (
            session.unprocessed_ids.tolist()
        )
        try:
            valid = pin.decode() is not None
        except UnicodeDecodeError:
            valid = False
        if valid:
            seen["rows after pins"] += 1
            rows[-1] = expected_row(adapter, pin, text) if len(rows) > 1 else ids_of(adapter, text)
        else:
            before = sum(map(len, rows[:-1]))
            rows[-1] = session.unprocessed_ids.tolist()[before:]
            assert len(rows) > 1
        assert session.unprocessed_ids.tolist() == [id_ for row in rows for id_ in row]
        check_regions(adapter, session)
        seen["regions"] += len(session.canonical)
        if rng.random() < 0.2:
            session = session.fork()


def sum_of(session: Session) -> int:
    """Where the text after the last pin begins, code points."""
    return session._state.pins.chars


def cuts_of(adapter: TokenizerAdapter) -> StableCuts:
    """The stable cuts of an adapter."""
    return stable_cuts_for(facts_of(adapter))
