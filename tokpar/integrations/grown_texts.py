"""The ids of long texts that begin as an earlier text does: a chat that grows by one turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.integrations.hf_encodings import EncodedCall
from tokpar.results.adding_up import Part, concatenate

if TYPE_CHECKING:
    from tokpar.arrays import IdArray
    from tokpar.compiled.front import Front
    from tokpar.cuts.firm_cuts import FirmCuts

SMALLEST_GROWN = 1 << 14
"""Code points below which a text is not remembered: the cache finds its segments as fast."""
MOST_TEXTS, MOST_CHARS = 16, 1 << 21
"""How many texts one tokenizer remembers, and code points in all of them."""
_PROBE = 64
"""Code points that are compared before the whole beginning."""


class GrownText:
    """A text and its ids before post-processing; uint32, (n,), which nobody changes.

    `id_list`: the same ids as a list, for the next text that begins as this one."""

    def __init__(self, text: str, ids: IdArray, id_list: list[int] | None = None) -> None:
        self.text, self.ids = text, ids
        self._lists = [] if id_list is None else [id_list]

    def take_list(self) -> list[int]:
        """Returns the ids in a list that nobody else has, which the caller may change."""
        try:
            return self._lists.pop()  # only one thread gets it
        except IndexError:
            found: list[int] = self.ids.tolist()
            return found

    def as_list(self) -> list[int]:
        """Returns the ids in a new list. To copy a list takes a tenth of making its numbers."""
        if not self._lists:
            found: list[int] = self.ids.tolist()
            return found
        own = self.take_list()
        found = own[:]
        self._lists.append(own)
        return found


class GrownTexts:
    """Remembers the last long texts of one tokenizer.

    A new text and an earlier one have equal ids up to a firm cut whose window lies in what both
    begin with (theorem 36). So the ids up to the cut are kept, and the text behind it is encoded.
    Thread-safe without a lock, and usable after a fork: what is remembered is a tuple, which is
    replaced."""

    def __init__(self, tokenizer: TokenizerAdapter, front: Front) -> None:
        self._tokenizer, self._front = tokenizer, front
        self._known: tuple[GrownText, ...] = ()
        self._cuts: FirmCuts | None = None

    def find(self, text: str) -> GrownText | None:
        """Returns the ids of `text`, of at least SMALLEST_GROWN code points. None if only the
        engine knows them."""
        for old in self._known:
            found = self._continued(old, text)
            if found is not None:
                self._remember(found, instead_of=old)
                return found
        ids = self._front.plain(text)
        if ids is None:
            return None
        found = GrownText(text, ids)
        self._remember(found)
        return found

    def _remember(self, found: GrownText, instead_of: GrownText | None = None) -> None:
        kept, chars = [found], len(found.text)
        if chars > MOST_CHARS or self._firm_cuts.refusal is not None:
            return
        for old in self._known:
            if old is instead_of:
                continue
            chars += len(old.text)
            if chars > MOST_CHARS or len(kept) == MOST_TEXTS:
                break
            kept.append(old)
        self._known = tuple(kept)

    @property
    def _firm_cuts(self) -> FirmCuts:
        made = self._cuts
        if made is None:
            from tokpar.cuts.firm_cuts import firm_cuts_for  # short texts need none

            made = self._cuts = firm_cuts_for(facts_of(self._tokenizer))
        return made

    def _continued(self, old: GrownText, text: str) -> GrownText | None:
        """Returns the ids of a text that has at least three quarters of `old`'s beginning, and at
        most as much behind it again; None for another text."""
        least = max(len(old.text) * 3 // 4, len(text) // 2)
        probe = slice(max(0, least - _PROBE), least)
        if old.text[probe] != text[probe] or least > len(text):
            return None
        from tokpar.sessions.common_ends import common_prefix

        same = common_prefix(old.text, text)
        cut = self._firm_cuts.last_before(text, same) if same >= least else None
        if cut is None:
            return None
        rest = [
            Part(cut.position, len(each), cut.absorbed).slice_of(each) for each in (old.text, text)
        ]
        before, behind = map(self._front.plain, rest)
        if before is None or behind is None:
            return None
        kept = len(old.ids) - len(before)
        ids = concatenate([old.ids[:kept], behind])
        id_list = old.take_list()
        del id_list[kept:]
        id_list += behind.tolist()
        return GrownText(text, ids, id_list)


class GrownCall(EncodedCall):
    """What one call encoded of one text that may have begun as an earlier one."""

    def __init__(self, adapter: Any, texts: Sequence[str], found: GrownText, *more: Any) -> None:
        self._found = found
        super().__init__(adapter, texts, [found.ids], *more)

    def _parts(self, *names: str) -> dict[str, Sequence[Any]]:
        parts = super()._parts(*names)
        if (
            "input_ids" in names
            and self.columns.truncation is None
            and self.columns.tensors is None
        ):
            parts["input_ids"] = [self._found.as_list()]
        return parts
