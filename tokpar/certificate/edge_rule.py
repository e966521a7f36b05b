"""Check rule EDGE: a cut at an edge of an added token that every surrounding text matches (theorem
29)."""

from __future__ import annotations

from tokpar.certificate.check_context import CheckContext, RefusedError, require, witness_values
from tokpar.process.cached_property import cached_property
from tokpar.types import AddedToken, Seam

_INVISIBLE = "\u180e\u200b\ufeff"
"""Characters that some engine version treats as white space, but Python does not."""


class Edges:
    """Checks the EDGE seams of one text."""

    def __init__(self, ground: CheckContext) -> None:
        self._ground = ground

    def require(self, seam: Seam) -> None:
        """Refuse unless the token of the seam begins or ends there, and certainly matches."""
        facts, text = self._ground.facts, self._ground.text
        content, edge = witness_values(seam, "token", "edge")
        parted = facts.added_token_cuts_refused
        require(parted is None, "facts", f"no edge of an added token is a certain cut: {parted}")
        token = self._token(content)
        require(edge in ("start", "end"), "witness", f"expected start or end, got {edge!r}")
        start = seam.position - (len(token.content) if edge == "end" else 0)
        there = start >= 0 and text.startswith(token.content, start)
        require(there, "context", f"{token.content!r} has no {edge} at {seam.position}")
        prefixed = edge == "end" and facts.first_prefix
        require(not prefixed, "prefix", "what begins there would get the prefix of a whole text")
        self._require_alone(token, start, start + len(token.content))
        objection = self._ground.raw.objection(text, seam.position)
        require(objection is None, "added token", f"position {seam.position}: {objection}")

    def _token(self, content: object) -> AddedToken:
        """The only added token with this content. Refused if its match may depend on context."""
        facts = self._ground.facts
        named = self._tokens_by_content.get(content, [])
        if len(named) != 1 or not content:
            raise RefusedError("witness", f"{len(named)} added tokens are {content!r}, not one")
        token = named[0]
        flagged = token.lstrip or token.rstrip or token.single_word
        require(not flagged, "added token", f"{content!r} has a flag (lstrip, rstrip, single_word)")
        raw = not token.normalized or (not facts.normalizers and facts.scheme != "dummy")
        require(raw, "added token", f"{content!r} is searched in normalized text")
        taken = self._stripping and any(map(_possibly_white, (token.content[0], token.content[-1])))
        require(not taken, "added token", f"{self._stripping!r} may strip a part of {content!r}")
        return token

    def _require_alone(self, token: AddedToken, start: int, stop: int) -> None:
        """Refuse unless every overlapping occurrence lies inside [start, stop), and the engine does
        not search for it before the token."""
        contents = self._ground.raw.contents
        reach = contents.longest - 1
        near = contents.occurrences(self._ground.text, start - reach, stop + reach)
        for place, content in near:
            if place >= stop or place + len(content) <= start:
                continue
            inside = start <= place and place + len(content) <= stop
            over = f"{content!r} at {place} and {token.content!r} at {start} share characters"
            require(inside, "added token", over)
            sooner = token.normalized and content in self._sooner
            first = f"{content!r} at {place} is looked for before {token.content!r} around it"
            require(not sooner, "added token", first)

    @cached_property
    def _tokens_by_content(self) -> dict[object, list[AddedToken]]:
        """The added tokens by their content."""
        named: dict[object, list[AddedToken]] = {}
        for token in self._ground.facts.added_tokens:
            named.setdefault(token.content, []).append(token)
        return named

    @cached_property
    def _sooner(self) -> frozenset[str]:
        tokens = self._ground.facts.added_tokens
        return frozenset(token.content for token in tokens if not token.normalized)

    @cached_property
    def _stripping(self) -> str:
        """The content of a token that strips white space, or "" if there is none."""
        tokens = self._ground.facts.added_tokens
        return next((t.content for t in tokens if (t.lstrip or t.rstrip) and t.content), "")


def _possibly_white(char: str) -> bool:
    return char.isspace() or char in _INVISIBLE
