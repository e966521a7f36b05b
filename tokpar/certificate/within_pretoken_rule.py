"""Check seams inside one pre-token of a BPE: K4 (lemma 24), K5 (theorem 5'), K6 (theorem 11).

Each rule proves that the seam is a token boundary. If the two parts are split-closed (theorem 7.2),
their ids are the ids of the whole, by lemma 4."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np

from tokpar.arrays import IdArray, IntArray
from tokpar.certificate.check_context import (
    CheckContext,
    RefusedError,
    SeamContext,
    once,
    require,
    witness_numbers,
)
from tokpar.certificate.invariant_text import edges_beside
from tokpar.certificate.pretoken_regions import Region, Regions
from tokpar.certificate.tokenizer_probe import TokenizerProbe, require_probe, tiling_edges
from tokpar.types import Facts

_MOST_SCANNED = 64
_MOST_TRIED = 4096
"""The most runs of ids that are tried, besides those of one token. Without a bound, a text with few
edges of ids on characters would be searched without end."""


class WithinPretokenRule:
    """Checks the seams inside the pre-tokens of one text.

    `require_cut` refuses a position that is no K1 cut. `probe`: None if the tokenizer may not be
    called."""

    def __init__(
        self,
        ground: CheckContext,
        require_cut: Callable[[int], None],
        probe: TokenizerProbe | None,
    ) -> None:
        self._ground = ground
        self._probe = probe
        self._regions = Regions(ground, require_cut)
        self._runs: dict[tuple[str, int, int, int], RefusedError | None] = {}

    def no_token_across(self, context: SeamContext) -> None:
        """Refuse unless no token occurrence crosses the position (lemma 24)."""
        start, stop = witness_numbers(context.seam, "start", "stop")
        region = self._region(start, stop)
        self._regions.require_parts(region, context)
        facts = self._ground.facts
        vocabulary = facts.derive(_vocabulary)
        named = facts.tokens is not None and vocabulary.longest <= facts.longest_token
        require(named, "facts", "the facts do not name the tokens, or not the longest")
        text, position = self._ground.text, context.seam.position
        low, high = self._regions.piece(region, position)
        reach = vocabulary.longest
        left = text[max(low, position - reach) : position].encode()[-reach:]
        right = text[position : min(high, position + reach)].encode()[:reach]
        token = vocabulary.token_across(left, right)
        require(token is None, "vocabulary", f"token {token!r} occurs across it")

    def agreeing(self, context: SeamContext) -> None:
        """Refuse unless every two neighbouring ids are what the model makes of their bytes (theorem
        5', by corollary 7).

        The ids of one part are. So only the pair at the seam is checked."""
        names = ("start", "stop", "right_start", "second", "left_stop")
        start, stop, right_start, second, left_stop = witness_numbers(context.seam, *names)
        region, position = self._region(start, stop), context.seam.position
        low, high = self._regions.piece(region, position)
        ordered = low <= right_start < position < second < left_stop <= high
        order = f"{low} <= right_start < {position} < second < left_stop <= {high}"
        require(ordered, "witness", f"expected {order}")
        self._regions.require_parts(region, context)
        probe = require_probe(self._probe)
        ids, edges, count = self._ids_beside(region, context)
        place = int(np.searchsorted(edges, probe.starts[second]))
        begins = place < len(edges) and edges[place] == probe.starts[second]
        require(begins, "second", f"no token begins at position {second}")
        least = int(probe.starts[max(low, context.start)])
        most = int(probe.starts[min(high, context.stop)])
        self._require_pair(ids, edges, count, least, most)

    def run(self, context: SeamContext) -> None:
        """Refuse unless theorem 11 holds: a pre-token c^n begins with any number of `token` =
        c^length, while at least `least` - `length` characters are left."""
        names = ("start", "stop", "piece_stop", "token", "length", "least")
        start, stop, piece_stop, token, length, least = witness_numbers(context.seam, *names)
        region, position = self._region(start, stop), context.seam.position
        text, longest = self._ground.text, self._ground.facts.longest_token
        begins = start == context.start
        begins = begins and self._regions.piece(region, position) == (start, piece_stop)
        require(begins, "run", "its pre-token must begin at the region and at the last seam")
        char = text[start]
        same = char.isascii() and text[start:piece_stop] == char * (piece_stop - start)
        require(same, "run", "its pre-token is not one ASCII character repeated")
        sized = 1 <= length <= longest < least - length
        require(sized, "witness", f"expected length <= {longest} < least - length")
        phase = (position - start) % length == 0 and piece_stop - position >= least - length
        expected = f"expected a multiple of {length} before it, {least - length} after it"
        require(phase, "run", expected)
        self._regions.require_parts(region, context, with_left=False)
        run = char, token, length, least
        once(self._runs, run, lambda: self._probe_run(*run))
        own = require_probe(self._probe).ids
        first = 0 if context.previous is None else context.previous.token
        if own is not None:
            ids = own[first : context.seam.token]
            only = len(ids) == (position - start) // length and (ids == token).all()
            require(only, "ids", f"expected nothing but id {token} before it in the run")

    def _region(self, start: int, stop: int) -> Region:
        facts = self._ground.facts
        divisible = facts.pretoken_cuts_refused is None and (facts.tiles or facts.sizes is not None)
        require(
            divisible, "undivided", f"no seam inside a pre-token: {facts.pretoken_cuts_refused}"
        )
        greedy = facts.model.casefold() == "bpe" and facts.scheme in ("regex", "whole")
        other = f"the rule is for BPE behind a regex or nothing, not {facts.model}"
        require(greedy, "scheme", other)
        plain = not facts.prefix_space and (not facts.normalizers or facts.sizes is not None)
        require(plain, "normalizer", "the pre-tokens are those of a changed text")
        require(facts.longest_token >= 1, "facts", "the facts do not tell the longest token")
        if facts.scheme == "regex":
            self._ground.family(facts.family)
        self._regions.require((start, stop))
        return start, stop

    def _ids_beside(self, region: Region, context: SeamContext) -> tuple[IdArray, IntArray, int]:
        """Returns the ids of the encoding around the seam, their edges in bytes, and how many ids
        lie before the seam.

        If post-processing hides the ids, both parts are tokenized again."""
        probe, position = require_probe(self._probe), context.seam.position
        count = context.seam.token
        if self._ground.facts.normalizers:
            return self._ids_beside_in_inert(region, context)
        if probe.ids is not None:
            ids, edges = probe.ids, probe.edges()
        else:
            start, stop = max(region[0], context.start), min(region[1], context.stop)
            left, right = probe.part(start, position), probe.part(position, stop)
            count = len(left.ids)
            ids = np.concatenate((left.ids, right.ids))
            spans = np.concatenate((left.spans, right.spans))
            edges = tiling_edges(spans, int(probe.starts[start]), int(probe.starts[stop]))
        if not 0 < count < len(ids) or edges[count] != probe.starts[position]:
            raise RefusedError("token", f"id {count} does not begin at position {position}")
        return ids, edges, count

    def _ids_beside_in_inert(
        self, region: Region, context: SeamContext
    ) -> tuple[IdArray, IntArray, int]:
        """Does the same for both parts by the lengths of the tokens.

        Tokens tile only text that the normalizer does not change; the check of the region
        established that it does not."""
        probe, position, token = (
            require_probe(self._probe),
            context.seam.position,
            context.seam.token,
        )
        start, stop = context.start, context.stop
        inside = region[0] <= start and stop <= region[1]
        require(inside, "normalizer", f"the part [{start}, {stop}) is not inside its region")
        if probe.ids is None:
            parts = probe.part(start, position).ids, probe.part(position, stop).ids
            first, token, ids = 0, len(parts[0]), np.concatenate(parts)
        else:
            first = 0 if context.previous is None else context.previous.token
            most = token + int(probe.starts[stop] - probe.starts[position])
            ids = probe.ids[first : max(first, most)]
        require(0 <= first < token < first + len(ids), "token", f"id {token} is not in its parts")
        edges = edges_beside(self._ground.facts, ids, token - first, probe.starts[position])
        tiling = edges[0] == probe.starts[start] and probe.starts[stop] in edges
        both = f"the ids beside it do not tile the text from {start} to {stop}"
        require(tiling and (np.diff(edges) > 0).all(), "token", both)
        return ids, edges, token - first

    def _require_pair(self, ids: IdArray, edges: IntArray, count: int, low: int, high: int) -> None:
        """Refuse unless the ids around the seam, within [low, high) bytes, are what the model makes
        of their text.

        The text must be longer than any token, and one pre-token by itself."""
        probe, longest = require_probe(self._probe), self._ground.facts.longest_token
        scanned, most = 0, longest + _MOST_TRIED
        for left, right in islice(_id_runs(edges, count, low, high), most):
            first, last = edges.item(left), edges.item(right)
            if last - first <= longest:
                continue
            start, stop = probe.position_at(first), probe.position_at(last)
            if start is None or stop is None:
                continue
            text = self._ground.text[start:stop]
            if self._regions.scanner.is_one(text):
                if not np.array_equal(probe.encode(text), ids[left:right]):
                    raise RefusedError("pair", f"ids {left} to {right} are not those of their text")
                return
            scanned += 1
            if scanned == _MOST_SCANNED:
                break
        raise RefusedError("pair", "no run of ids around it can be encoded by itself")

    def _probe_run(self, char: str, token: int, length: int, least: int) -> None:
        """Returns the finite check of theorem 11: `length` strings stand for all longer strings.

        Two ids in front of the longest string show, by lemma 4, that `token` is canonical and may
        follow itself."""
        longest = least + length - 1
        for size in range(least, least + length):
            text, count = char * size, 2 if size == longest else 1
            laid = require_probe(self._probe).encode_with_spans(text)
            spans = [[k * length, (k + 1) * length] for k in range(count)]
            begins = laid.ids[:count].tolist() == [token] * count
            begins = begins and laid.spans[:count].tolist() == spans
            require(begins, "run", f"{char!r} * {size} does not begin with {count} ids {token}")
            one = self._regions.scanner.is_one(text)
            require(one, "run", f"{char!r} * {size} is not one pre-token")


def _id_runs(edges: IntArray, count: int, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield longer and longer runs of ids around the id at `count`, as (first, last + 1).

    The shorter side grows first. All edges stay within [low, high] bytes."""
    first, last = np.searchsorted(edges, (low, high)).tolist()
    left = right = count
    place, middle = edges.item, edges.item(count)
    while left > first or right < last:
        left_is_shorter = middle - place(left) <= place(right) - middle
        if left > first and (right == last or left_is_shorter):
            left -= 1
        else:
            right += 1
        if left < count < right:
            yield left, right


class Vocabulary:
    """All tokens, sorted, so that tokens with a common prefix are neighbours."""

    def __init__(self, tokens: Iterable[bytes]) -> None:
        self._tokens = sorted(set(tokens) - {b""})
        self.longest = max(map(len, self._tokens), default=0)

    def token_across(self, left: bytes, right: bytes) -> bytes | None:
        """A token that occurs in left + right across the border of the two, or None.

        Tokens {ab, bc}: b"a", b"bc" -> b"ab"."""
        whole, middle = left + right, len(left)
        for start in range(max(0, middle - self.longest + 1), middle):
            found = self._prefix(whole[start:], middle - start + 1)
            if found is not None:
                return found
        return None

    def _prefix(self, text: bytes, least: int) -> bytes | None:
        """The shortest token of at least `least` bytes with which `text` begins."""
        place = 0
        for length in range(least, len(text) + 1):
            prefix = text[:length]
            place = bisect_left(self._tokens, prefix, place)
            if place == len(self._tokens) or not self._tokens[place].startswith(prefix):
                return None
            if self._tokens[place] == prefix:
                return prefix
        return None


def _vocabulary(facts: Facts) -> Vocabulary:
    return Vocabulary(facts.tokens() if facts.tokens is not None else ())
