"""Real shapes of rows of stages, as tokenizers below 1.0."""

from __future__ import annotations

import json

from tokenizers import Tokenizer

from tests.support import stage_configs
from tests.support.seams import serial
from tests.support.tokenizers_drawn import is_panic

SHAPES = {
    name: Tokenizer.from_str(json.dumps(config))
    for name, config in (stage_configs.SHAPES | stage_configs.SHAPES_BELOW_ONE).items()
}


def ids_or_none(tokenizer: Tokenizer, text: str) -> list[int] | None:
    """The engine's own ids; None where it panics."""
    try:
        return serial(tokenizer, text)
    except BaseException as error:
        if is_panic(error):
            return None
        raise
