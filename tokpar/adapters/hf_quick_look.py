"""Looks at a tokenizer and at its model that take a part of the time that `Look` takes."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from tokpar.adapters.hf_look import (
    COMPONENTS,
    Look,
    read_flags,
    sampled_ids,
    settings_of,
    skips_special_tokens,
    states_of,
)

_ENCODING_PARTS = 3
_read_encoding_parts = attrgetter(*COMPONENTS[:_ENCODING_PARTS])


class QuickModelLook:
    """Notices what `look_at_model` notices, and reads 2 ids where that reads 32, one in the middle
    and the last one: a training that gave these the same tokens is left to the longer look.

    `seen`: what `look_at_model` returned for `own`."""

    __slots__ = "_ids", "_kind", "_seen", "_settings"

    def __init__(self, seen: tuple[Any, ...], own: Any) -> None:
        settings, size, names = seen
        ids = sampled_ids(size)
        self._ids = (ids[len(ids) // 4], ids[-1]) if ids else ()
        kind: Any = type(own.model)
        self._kind, self._settings = kind, settings_of(kind)
        by_id = dict(zip(ids, names, strict=True))
        self._seen = settings, size, [by_id[id_] for id_ in self._ids]

    def is_same(self, own: Any) -> bool:
        """True if the model is what it was."""
        model = own.model
        if type(model) is not self._kind:
            return False
        names = [*map(model.id_to_token, self._ids)]
        return bool(self._seen == (self._settings(model), own.get_vocab_size(False), names))


class QuickLook:
    """Notices what `Look` notices, but for the decoder, and what `QuickModelLook` leaves out.

    `own`: the tokenizer that `look` is about, as it was then."""

    def __init__(self, look: Look, own: Any) -> None:
        self._model = QuickModelLook(look.model, own)
        self._components = look.asked_components
        states, *self._rest = look.rest
        self._states = states[:_ENCODING_PARTS]  # type: ignore[index]
        self._first_free, self._highest = look.asked_ids
        self._lists = look.lists

    def is_same(self, own: Any, wrapper: Any) -> bool:
        """True if the tokenizer is what it was."""
        if not self._model.is_same(own):
            return False
        find = own.id_to_token
        if self._states != states_of(_read_encoding_parts(own), self._components):
            return False
        return self._rest == [
            find(self._first_free),
            find(self._highest),
            read_flags(own) if wrapper is None else skips_special_tokens(own, wrapper),
            own.get_added_tokens_decoder() if self._lists else None,
        ]
