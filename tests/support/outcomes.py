"""What a call gives, so that two calls can be compared: its result, or its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def outcome(call: Callable[[], Any]) -> object:
    """The result, with the type of an array; or the error's type and text."""
    try:
        found = call()
    except BaseException as error:  # a panic of an engine is no Exception
        return type(error), str(error)
    if isinstance(found, np.ndarray):
        return str(found.dtype), found.shape, found.flags.writeable, found.tolist()
    return found
