"""Segments of a text, each trusted or not."""

from collections.abc import Iterable

from tokpar.errors import OptionError
from tokpar.process.limits import require_text
from tokpar.untrusted.trusted_search import Span


def joined_segments(segments: Iterable[tuple[str, bool]]) -> tuple[str, list[Span]]:
    """Returns the text of the segments (text, trusted), and its untrusted spans, code points.

    Raises OptionError for a segment that is no such pair."""
    texts: list[str] = []
    spans: list[Span] = []
    length = 0
    for segment in segments:
        if not isinstance(segment, (tuple, list)) or len(segment) != 2:
            raise OptionError(f"a segment is a pair (text, trusted), got {segment!r:.80}")
        text, trusted = require_text(segment[0]), segment[1]
        if not isinstance(trusted, bool):
            raise OptionError(f"trusted must be True or False, got {trusted!r:.80}")
        texts.append(text)
        if not trusted:
            spans.append((length, length + len(text)))
        length += len(text)
    return "".join(texts), spans
