"""Repeats the id of a placeholder in the text of a session (corollary of theorem 29)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.added_token_edges import TokenEdges
from tokpar.cuts.finder import finder_for
from tokpar.cuts.firm_cuts import firm_cuts_for
from tokpar.errors import OptionError
from tokpar.process.limits import require_count
from tokpar.sessions.pins import TranscriptRow
from tokpar.sessions.rope import Segment, divide, ids_after, join_until, rope_of
from tokpar.types import AddedToken

_INSTEAD = "; write the copies into the text instead, and update the session"


def expand_placeholders(
    row: TranscriptRow, tokenizer: TokenizerAdapter, token: int | str, n: int | Sequence[int]
) -> tuple[TranscriptRow, ...]:
    """Returns the rows that take the place of a text row: texts, and a pin for each placeholder.

    The last row is the text after the last placeholder, which is its context. Without a
    placeholder, only the row itself. Raises OptionError, see `Session.replace_ids`."""
    edges = finder_for(facts_of(tokenizer)).edges
    added = _added_token(tokenizer, token, edges)
    content, own_id = added.content, np.array([added.id], np.uint32)
    text, skipped = row.rope_text, row.skipped_ids
    places = [place for place in edges.matches(text, content) if place[0] >= row.skipped_chars]
    numbers = (np.flatnonzero(ids_after(row.rope, skipped) == own_id) + skipped).tolist()
    if len(places) != len(numbers):
        raise OptionError(
            f"the ids have {content!r} {len(numbers)} times, but only {len(places)} of its places "
            "in the text are certain: another added token touches it, or ordinary text has its id"
            + _INSTEAD
        )
    counts = _counts(n, len(places))
    _check_copies(text, places, counts, content, edges)
    ends = [
        end
        for (start, stop), number in zip(places, numbers, strict=True)
        for end in ((start, number), (stop, number + 1))
    ]
    pieces = divide(row.rope, ends)
    rows = [TranscriptRow(rope_of(pieces[0]), row.skipped_chars, row.skipped_ids)]
    context = Segment(content, own_id)
    # the window of a cut nearer than this holds text before the placeholder, which the row lacks
    near = max(firm_cuts_for(facts_of(tokenizer)).reach, len(content) + 1)
    for count, piece in zip(counts, pieces[2::2], strict=True):
        copies = np.repeat(own_id, count)
        rows.append(TranscriptRow(data=content.encode(), pinned_ids=copies, repeats=True))
        rows.append(TranscriptRow(rope_of(join_until([context, *piece], near)), len(content), 1))
    return tuple(rows)


def _added_token(tokenizer: TokenizerAdapter, token: int | str, edges: TokenEdges) -> AddedToken:
    """Returns the added token with an id or a content. Raises OptionError if it is none, or if its
    neighbours may see it."""
    name = tokenizer.name
    if isinstance(token, bool) or not isinstance(token, (int, str, np.integer)):
        raise OptionError(
            f"token must be the id or the content of an added token, got {type(token).__name__}"
        )
    facts = facts_of(tokenizer)
    if facts.added_token_cuts_refused is not None:
        why = facts.added_token_cuts_refused
        raise OptionError(f"no id of {name} can be repeated: {why}{_INSTEAD}")
    tokens = facts.added_tokens
    found = next((each for each in tokens if token in (each.id, each.content)), None)
    if found is None:
        raise OptionError(f"{token!r} is no added token of {name}, so its id cannot be repeated")
    if found.content not in edges.plain:
        raise OptionError(
            f"{found.content!r} strips white space, is matched as a single word only, or is "
            f"searched in the normalized text, so the ids beside it may change{_INSTEAD}"
        )
    return found


def _counts(n: object, places: int) -> list[int]:
    """Returns how often each placeholder is repeated. Raises OptionError."""
    if isinstance(n, (Sequence, np.ndarray)) and not isinstance(n, (str, bytes)):
        counts = [int(count) if isinstance(count, np.integer) else count for count in n]
        if len(counts) != places:
            raise OptionError(f"n has {len(counts)} counts, and the text {places} placeholders")
    else:
        counts = [n] * max(1, places)
    for count in counts:
        require_count("n", count)
    return counts[:places]


def _check_copies(
    text: str,
    places: Sequence[tuple[int, int]],
    counts: Sequence[int],
    content: str,
    edges: TokenEdges,
) -> None:
    """Raises OptionError unless each copy is certainly matched in the text with all copies.

    More copies than an added token can overlap add nothing new."""
    most = edges.longest // len(content) + 2
    pieces, expected, end, size = list[str](), list[tuple[int, int]](), 0, 0
    for (start, stop), count in zip(places, counts, strict=True):
        size += start - end
        for _ in range(min(count, most)):
            expected.append((size, size + len(content)))
            size += len(content)
        pieces += [text[end:start], content * min(count, most)]
        end = stop
    found = edges.matches("".join([*pieces, text[end:]]), content)
    if not {*expected} <= {*found}:
        raise OptionError(
            f"copies of {content!r} side by side hold or touch another added token, so the ids "
            f"would not be those of the text with all copies{_INSTEAD}"
        )
