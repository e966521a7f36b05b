"""The adapter of a whole ``tokenizer.json``, as `tokpar.adapters.pure` loads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from tokpar.adapters.pure_arrays import ids_of, require_utf8
from tokpar.adapters.pure_vocabulary import ENGINE, no_family
from tokpar.adapters.token_lengths import TokenLengths
from tokpar.kernels import IdArray, SpanArray, byte_starts
from tokpar.pure.postprocess import read_finish
from tokpar.pure.tokenizer import read_tokenizer
from tokpar.types import Facts, Rows


class FileTokenizer:
    """The tokenizer of a parsed ``tokenizer.json``. OptionError for a lone surrogate.

    Truncation and padding of the file are applied once, to all ids of a text, as HF does.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        name: str,
        add_special_tokens: bool = True,
        truncation: bool = True,
        padding: bool = True,
    ) -> None:
        self._name = name
        self._tokenizer = read_tokenizer(config)
        self._config = config
        self._settings = {
            "add_special_tokens": add_special_tokens,
            "truncation": truncation,
            "padding": padding,
        }
        self._finish = read_finish(config, **self._settings)

    @property
    def name(self) -> str:
        """ "pure:" and the name of the file."""
        return f"pure:{self._name}"

    @cached_property
    def facts(self) -> Facts:
        """What proofs may use: by the rules for HF, the family as this engine has it."""
        from tokpar.adapters.hf_facts import facts_from_json, token_bytes
        from tokpar.cuts.tables import recognise

        facts = facts_from_json(self._config)
        why = facts.unprovable
        if facts.scheme == "regex" and recognise(ENGINE, facts.patterns) is None:
            why = why or no_family(facts.patterns)
        tokens = partial(token_bytes, tuple(self._config["model"]["vocab"]))
        return replace(
            facts,
            engine=ENGINE,
            unprovable=why,
            tokens=tokens if facts.undivided is None else None,
        )

    def check_text(self, text: str) -> None:
        """Raises OptionError if `text` cannot be written as UTF-8."""
        require_utf8(text)

    def encode(self, text: str) -> IdArray:
        """Ids of `text`, added tokens included; uint32, (n,)."""
        return ids_of(self._tokenizer, text)

    def encode_whole(self, text: str) -> IdArray:
        """`encode`, then `finish`."""
        return self.finish(Rows.of([self.encode(text)]), [text])[0]

    @property
    def around(self) -> tuple[IdArray, IdArray] | None:
        """Ids that `finish` puts before and after a text; None where it may cut or pad."""
        finish = self._finish
        if finish.limit is not None or finish.pad is not None:
            return None
        before, after = (np.array(ids, dtype=np.uint32) for ids in (finish.prefix, finish.suffix))
        return before, after

    def finish(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Ids of whole texts, cut, with special tokens, and padded to the longest if the file says
        so."""
        return Rows.of(self._finish.batch([rows[k].tolist() for k in range(len(rows))]))

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans; LookupError if these are not the ids of `text`.

        Where tokens do not tile the text, spans are in whole code points: the tokens of one
        character share a span, and a normalizer may leave gaps.
        """
        if self._lengths is not None:
            return self._lengths.spans(ids, text)
        found = np.array(self._tokenizer.spans(text), dtype=np.int64).reshape(-1, 3)
        if not np.array_equal(found[:, 0], ids):
            raise LookupError("these are not the ids of this text")
        spans: SpanArray = byte_starts(text)[found[:, 1:]]
        return spans

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids` by the file's decoder, added tokens included; tokens joined by spaces
        if there is none. LookupError for an id that is no token, which HF leaves out."""
        return self._tokenizer.decode([int(id_) for id_ in ids])

    def spec(self) -> tuple[type[FileTokenizer], dict[str, Any]]:
        """How to build it again in another process."""
        arguments = {"config": self._config, "name": self._name}
        return FileTokenizer, arguments | self._settings

    @cached_property
    def _lengths(self) -> TokenLengths | None:
        from tokpar.adapters.hf_facts import token_lengths

        return token_lengths(self._config) if self.facts.tiles else None
