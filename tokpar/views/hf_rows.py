"""From the ids of texts to the columns that transformers returns: input_ids, masks, offsets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.adapters.hf_finish import (
    Finish,
    NativeRefusesError,
    Padding,
    Truncation,
    finish_of,
    parsed,
)
from tokpar.errors import OptionError
from tokpar.kernels import SPACES, IdArray, IntArray, SpanArray
from tokpar.pure.parts import stages
from tokpar.types import Rows
from tokpar.views.hf_call import Call

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# SPACES are also what Rust's char::is_whitespace holds for a space.
_BLANKS = SPACES + "\u0120"  # the byte-level character of " ", too


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the ids of a text. `types`: type ids of prefix, text and suffix, one id
    standing for the text. `trims`: for each stage that takes spaces out of the offsets whether it
    spares one that the tokenizer put in front. `blanks` counts them; None without such a stage."""

    prefix: IdArray
    suffix: IdArray
    types: tuple[IdArray, int, IdArray]
    trims: tuple[bool, ...]
    blanks: Blanks | None


def frame_of(own: Tokenizer, add_special_tokens: bool) -> Frame:
    """What the post-processor of `own` does to every text; `Finish.unknown` must be None."""
    post = own.post_processor
    finish = finish_of(own, add_special_tokens=add_special_tokens, truncation=False, padding=False)
    trims = tuple(
        bool(stage["add_prefix_space"])
        for stage in stages(parsed(post), "post-processor", "processors")
        if stage.get("trim_offsets")
    )
    types = _types(post, add_special_tokens)
    return Frame(finish.prefix, finish.suffix, types, trims, Blanks(own) if trims else None)


def _types(post: Any, add_special_tokens: bool) -> tuple[IdArray, int, IdArray]:
    """The engine's own answer for a text of one token."""
    from tokenizers import Tokenizer, models

    one = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    if post is not None:
        one.post_processor = post
    encoding = one.encode("a", add_special_tokens=add_special_tokens)
    types = np.array(encoding.type_ids, dtype=np.uint32)
    at = encoding.special_tokens_mask.index(0)
    return types[:at], int(types[at]), types[at + 1 :]


def kept(texts: Sequence[str], rows: Rows, frame: Frame, call: Call) -> Rows:
    """The texts cut, and their offsets trimmed; spans in code points. Raises OptionError for
    truncation="only_second" where something must go, LookupError where offsets are not known."""
    numbers = Rows(np.arange(len(rows.ids), dtype=np.uint32), rows.offsets)
    around, limit, cut_to = len(frame.prefix) + len(frame.suffix), call.max_length, None
    if call.truncation is not None and limit is not None and limit >= around:  # else nothing is cut
        cut_to = Truncation(limit - around, call.truncation, call.truncation_side, 0)
    try:
        numbers = Finish(truncation=cut_to).rows(numbers)
    except NativeRefusesError:
        raise OptionError(
            "truncation='only_second' cannot cut a single text: use 'only_first'"
        ) from None
    spans = None if rows.spans is None else rows.spans[numbers.ids]
    cut = Rows(rows.ids[numbers.ids], numbers.offsets, spans)
    if spans is None or frame.blanks is None:
        return cut
    places = []
    for k, text in enumerate(texts):
        piece = cut.piece(k)
        assert piece.spans is not None
        blanks = frame.blanks.count(piece.ids, piece.spans, text)
        places.append(trimmed(piece.spans, *blanks, frame.trims))
    return Rows(cut.ids, cut.offsets, np.concatenate(places))


def trimmed(
    spans: SpanArray, before: IntArray, behind: IntArray, trims: Sequence[bool]
) -> SpanArray:
    """Spans without the spaces of their tokens: [[0, 2], [2, 6]] for "Ġa", "Ġbcd" -> [[1, 2], [3,
    6]]. A stage with a prefix space spares one in front of the first token, and of those at 0."""
    start, stop = spans[:, 0].copy(), spans[:, 1].copy()
    for prefix_space in trims:
        lead = before
        if prefix_space and len(start):
            first = start == 0
            first[0] = True
            lead = np.where(first & (before == 1), 0, before)
        start = np.minimum(start + lead, stop)
        stop = np.where(stop >= behind, np.maximum(stop - behind, start), stop)
    return np.stack([start, stop], axis=1)


def column(
    name: str, rows: Rows, frame: Frame, call: Call, padding: tuple[int, int]
) -> list[IntArray]:
    """One int64 column of all texts, (n,) or (n, 2) spans. `padding`: id and type id."""
    prefix, suffix = frame.prefix, frame.suffix
    first, own, last = frame.types
    if name == "offset_mapping":
        assert rows.spans is not None
        edges = [_laid(rows, call, 0, 0 * prefix, side, 0 * suffix) for side in rows.spans.T]
        return [np.stack(pair, axis=1) for pair in zip(*edges, strict=True)]
    special = np.ones_like(prefix), np.ones_like(suffix)
    padding_id, before, middle, behind = {
        "input_ids": (padding[0], prefix, rows.ids, suffix),
        "token_type_ids": (padding[1], first, own, last),
        "attention_mask": (0, special[0], 1, special[1]),
        "special_tokens_mask": (1, special[0], 0, special[1]),
    }[name]
    return _laid(rows, call, padding_id, before, middle, behind)


def _laid(
    rows: Rows, call: Call, pad: int, prefix: IdArray, middle: Any, suffix: IdArray
) -> list[IntArray]:
    """For each row its share of `middle`, or that number for each id, surrounded and padded."""
    length = call.max_length if call.padding == "max_length" else None
    rule = Padding(length, call.multiple or 0, call.padding_side, pad)
    finish = Finish(prefix, suffix, padding=None if call.padding is None else rule)
    laid = finish.rows(Rows(np.full(len(rows.ids), middle, dtype=np.uint32), rows.offsets))
    return [laid[k].astype(np.int64) for k in range(len(laid))]


class Blanks:
    """The spaces that tokens begin and end with, which a post-processor takes out of the offsets.
    They are counted in the token's text: the vocabulary's, or for an added token that takes white
    space beside it what it was found as, " <mask>"."""

    def __init__(self, own: Tokenizer) -> None:
        self._own = own
        self._added = own.get_added_tokens_decoder()
        self._stripping = {i for i, token in self._added.items() if token.lstrip or token.rstrip}
        self._unsure = _unsure(own)

    def count(self, ids: IdArray, spans: SpanArray, text: str) -> tuple[IntArray, IntArray]:
        """How many spaces each token begins and ends with; `spans` in code points of `text`.
        LookupError where what the engine took for the text of a token cannot be told."""
        unique, where = np.unique(ids, return_inverse=True)
        known = [_blanks(self._known(int(id_))) for id_ in unique]
        counts = np.array(known, dtype=np.int64).reshape(-1, 2)[where]
        for k in np.flatnonzero(np.isin(ids, list(self._stripping))).tolist():
            start, stop = spans[k].tolist()
            counts[k] = _blanks(self._found(int(ids[k]), text[start:stop]))
        return counts[:, 0], counts[:, 1]

    def _known(self, id_: int) -> str:
        if id_ in self._unsure:
            raise LookupError(f"no offsets: the engine alone knows which text id {id_} stands for")
        token = self._added.get(id_)
        if token is None or id_ in self._stripping:
            return self._own.id_to_token(id_) or ""
        return self._searched(token, token.content)

    def _found(self, id_: int, part: str) -> str:
        """The text of an added token with the white space that it took."""
        token = self._added[id_]
        found = self._searched(token, part)
        form = self._searched(token, token.content)
        if token.normalized and found.strip(SPACES) != form.strip(SPACES):
            raise LookupError(
                f"no offsets: the white space beside {token.content!r} is not told apart from what "
                "the normalizer makes of it"
            )
        return found

    def _searched(self, token: Any, text: str) -> str:
        """A text as the token is looked for in it."""
        if not token.normalized or self._own.normalizer is None:
            return text
        return str(self._own.normalizer.normalize_str(text))


def _unsure(own: Tokenizer) -> frozenset[int]:
    """Ids whose text only the engine knows: unknown pieces of a Unigram, words that share an id."""
    kind = type(own.model).__name__
    if kind == "BPE":
        return frozenset()
    if kind == "Unigram":
        unknown = json.loads(own.model.__getstate__())["unk_id"]
        return frozenset() if unknown is None else frozenset([unknown])
    ids = list(own.get_vocab(with_added_tokens=False).values())  # a saved model has each id once
    return frozenset() if len(set(ids)) == len(ids) else frozenset(ids)


def _blanks(token: str) -> tuple[int, int]:
    return len(token) - len(token.lstrip(_BLANKS)), len(token) - len(token.rstrip(_BLANKS))
