"""Random traces of a session against full encodes, and cuts against what may stand beside them.

By hand, on all kinds of tokenizers: ``python -m tests.sessions.traces SEED SECONDS``."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from unittest import mock

import tokpar
from tests.support.adapters_drawn import (
    contents_of,
    continuations,
    drawn_adapter,
    drawn_text,
    predecessors,
)
from tests.support.tokenizers_drawn import is_panic
from tokpar import short_texts
from tokpar.adapter_parts import token_bytes_of
from tokpar.cuts.stable_cuts import StableCuts, Window, stable_cuts_for
from tokpar.errors import EngineError
from tokpar.interfaces import TokenizerAdapter, facts_of
from tokpar.sessions import editing
from tokpar.sessions.session import Session, SessionPatch


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


def check_patch(
    adapter: TokenizerAdapter, old: list[int], patch: SessionPatch, session: Session
) -> None:
    """The patch and the session give the ids of a full encode."""
    try:
        expected = ids_of(adapter, session.text)
    except EngineError as error:
        raise AssertionError(f"the engine refuses the whole text {session.text!r}") from error
    assert old[: patch.replace_from] + patch.replacement_ids.tolist() == expected, session.text
    assert session.unprocessed_ids.tolist() == expected


def random_edit(
    rng: random.Random, session: Session, tokens: tuple[str, ...], others: list[Session]
) -> tuple[str, partial[SessionPatch]]:
    """One edit of the session by a verb of its own: the text it should have, and the call."""
    text, more = session.text, drawn_text(rng, tokens, rng.choice((1, 2, 5, 30)))
    other = rng.choice(others)
    if rng.random() < 0.15 and len(text) + len(other) < 400:
        return text + other.text, partial(session.append, other)
    start = rng.randint(0, len(text))
    stop = rng.randint(start, min(len(text), start + rng.choice((0, 1, 4))))
    kind = rng.random()
    if kind < 0.4:
        return text + more, partial(session.append, more)
    if kind < 0.6:
        return text[:start] + more + text[stop:], partial(session.replace, start, stop, more)
    if kind < 0.7:
        return text[:start] + text[stop:], partial(session.replace, start, stop, "")
    if kind < 0.85:
        place = rng.randint(len(text) // 2, len(text))
        return text[:place], partial(session.truncate, place)
    wanted = text[:start] + more + text[stop:]
    return wanted, partial(session.update, wanted)


def check_trace(
    rng: random.Random, adapter: TokenizerAdapter, steps: int, seen: Counter[str]
) -> None:
    """A session of random edits and forks, after each of them equal to a full encode."""
    tokens = contents_of(adapter)
    encoder = tokpar.Encoder(adapter)
    sizes = rng.choice(((1, 4, 2, 8), (2, 8, 4, 16), (4, 16, 8, 64), (256, 512, 1024, 1 << 13)))
    names = dict(zip(("SEGMENT", "_FIRST_REACH", "_LONG_SEGMENT"), sizes, strict=False))
    with (
        mock.patch.multiple(editing, **names),
        mock.patch.multiple(short_texts, MOST_DIRECT_CHARS=sizes[-1]),
    ):
        sessions = [encoder.session(drawn_text(rng, tokens, rng.choice((1, 60)))) for _ in "ab"]
        for _ in range(steps):
            session = rng.choice(sessions)
            old = session.unprocessed_ids.tolist()
            before = session.text
            wanted, edit = random_edit(rng, session, tokens, sessions)
            patch = edited(adapter, session, wanted, edit)
            appended = any(isinstance(each, Session) for each in edit.args)
            if patch is None:
                seen["edits that the engine refuses"] += 1
                assert session.text == before
                assert session.unprocessed_ids.tolist() == old
                continue
            seen["steps"] += 1
            seen["steps that encode a part"] += patch.encoded < len(wanted)
            seen["truncations"] += before.startswith(wanted)
            seen["sessions appended"] += appended
            seen["sessions appended, a part kept"] += appended and patch.stop < len(wanted)
            assert session.text == wanted
            assert 0 <= patch.start <= patch.stop <= len(wanted)
            assert patch.encoded <= patch.stop - patch.start
            check_patch(adapter, old, patch, session)
            if rng.random() < 0.1 and len(sessions) < 4:
                seen["forks"] += 1
                sessions.append(session.fork())


def edited(
    adapter: TokenizerAdapter, session: Session, wanted: str, edit: Callable[[], SessionPatch]
) -> SessionPatch | None:
    """The patch of the edit, or None where the engine refuses the whole new text, too."""
    try:
        return edit()
    except EngineError as error:
        try:
            ids_of(adapter, wanted)
        except EngineError:
            return None
        raise AssertionError(f"the engine encodes the whole text {wanted!r}: {error}") from error


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


def session_of_drawn_text(session: Session, text: str) -> Session:
    """A session of `text`, with the encoder of another session."""
    return Session(session._encoder, text)


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
                patch = session.append(session_of_drawn_text(session, more))
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
    return session._pins.chars


def check_tokenizer(rng: random.Random, seen: Counter[str], steps: int = 14) -> None:
    """All of the above on one drawn tokenizer. A panic of the engine ends it."""
    try:
        adapter = drawn_adapter(rng)
    except tokpar.errors.OptionError:
        return
    seen["tokenizers"] += 1
    try:
        for _ in range(12):
            check_stable(rng, adapter, seen)
            check_costable(rng, adapter, seen)
        for _ in range(2):
            check_trace(rng, adapter, steps, seen)
            seen["traces"] += 1
        if token_bytes_of(adapter) is not None and facts_of(adapter).byte_level:
            for _ in range(3):
                check_pins(rng, adapter, seen)
    except EngineError:
        seen["engine errors"] += 1
    except BaseException as error:
        if not is_panic(error):
            raise
        seen["panics"] += 1


def cuts_of(adapter: TokenizerAdapter) -> StableCuts:
    """The stable cuts of an adapter."""
    return stable_cuts_for(facts_of(adapter))


def main(seed: int, seconds: float) -> int:
    """Draw tokenizers for so long. Prints counts, and the seed of each failure."""
    seen: Counter[str] = Counter()
    begun, said, number = time.monotonic(), time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        number += 1
        try:
            check_tokenizer(random.Random(f"{seed} {number}"), seen)
        except Exception as error:
            seen["failures"] += 1
            print(f"seed {seed} {number}: {type(error).__name__}: {error}"[:400], flush=True)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(dict(seen), flush=True)
    print(dict(seen), flush=True)
    return 1 if seen["failures"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))
