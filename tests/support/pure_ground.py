"""Texts on which Python and the engine read Unicode alike."""

from __future__ import annotations

import re

from tokpar.patterns.class_tables import load_atoms, load_pictographs, merge_ranges

FROZEN = [span for spans in load_atoms().values() for span in spans] + [*load_pictographs()]
_ENDS = ((re.escape(chr(low)), re.escape(chr(high))) for low, high in merge_ranges(FROZEN))
_OTHER = re.compile("[^" + "".join(f"{low}-{high}" for low, high in _ENDS) + "]")


def on_common_ground(text: str) -> str:
    """Without characters that `regex` and the engines may class differently: what is left is the
    frozen set of the cut tables, on which all of them were asked and agree."""
    return _OTHER.sub("", text)
