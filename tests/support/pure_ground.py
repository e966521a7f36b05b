"""Texts on which Python and the engine read Unicode alike."""

from __future__ import annotations

import re

from tokpar.patterns.class_tables import load_atoms, load_pictographs, range_class

FROZEN = [span for spans in load_atoms().values() for span in spans] + [*load_pictographs()]
_OTHER = re.compile("[^" + range_class(FROZEN)[1:])


def on_common_ground(text: str) -> str:
    """Without characters that `regex` and the engines may class differently: what is left is the
    frozen set of the cut tables, on which all of them were asked and agree."""
    return _OTHER.sub("", text)
