"""The facts of byte-level BPE that is given by its ranks: tiktoken's, and tokpar's vocabularies."""

from __future__ import annotations

from tokpar.certificate.own_stages import as_read, covers
from tokpar.certificate.tokenizer_file import RankFile
from tokpar.types import Facts


def facts_of_ranks(file: RankFile) -> Facts:
    """Returns the facts of a file of ranks."""
    patterns = as_read(file.engine, file.patterns)
    tiles = (file.keeps_gaps or covers(file.engine, patterns)) and not _share_ids(file)
    chance = _begins_alike(file) if file.drops_prefixes else None
    return Facts(
        engine=file.engine,
        model="BPE",
        scheme="regex",
        patterns=patterns,
        added_tokens=file.added_tokens,
        tiles=tiles,
        longest_token=max(map(len, file.tokens)),
        unprovable=chance,
        added_token_cuts_refused=chance,
    )


def _share_ids(file: RankFile) -> bool:
    """True if an id belongs to two tokens of different lengths."""
    matched = {(token.id, len(token.content.encode())) for token in file.added_tokens}
    wanted = {number for number, _ in matched}
    matched |= {(k, len(token)) for token, k in file.tokens.items() if k in wanted}
    return len(matched) > len(wanted)


def _begins_alike(file: RankFile) -> str | None:
    """Why it is chance which special token is matched, or None."""
    allowed, every = {token.content for token in file.added_tokens}, file.specials.keys()
    longer = any(one[:k] in every for one in allowed for k in range(len(one)))
    shorter = any(one[:k] in allowed for one in every for k in range(len(one)))
    return "two special tokens begin alike" if longer or shorter else None
