"""Notices when an object is gone, also one of a class without weak references."""

from __future__ import annotations

import weakref
from typing import Any


class Mark:
    """An attribute that is gone with its object."""


def reference_to(each: Any) -> weakref.ref[Any]:
    """A reference that returns None when the object is gone. The objects of tokenizers below 0.23
    have no weak references, but attributes."""
    if type(each).__weakrefoffset__:
        return weakref.ref(each)
    each.mark_of_test = mark = Mark()
    return weakref.ref(mark)
