"""A drawn tokenizer and the texts for it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from tokpar_conformance.worlds.characters import kinds_of_characters
from tokpar_conformance.worlds.models import ATOMS, draw_model
from tokpar_conformance.worlds.stages import (
    draw_added,
    draw_normalizer,
    draw_padding,
    draw_pre_tokenizer,
    draw_template,
    draw_truncation,
)

Config = dict[str, Any]
DECODER = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


@dataclass(frozen=True)
class World:
    """`file`: the content of a `tokenizer.json`. `parts`: strings that its texts are made of, also
    the contents of added tokens and long tokens. `oddities`: names of what is odd about it."""

    file: str
    parts: tuple[str, ...]
    oddities: tuple[str, ...]

    def text(self, draw: random.Random, most: int = 25) -> str:
        """Returns a text of up to `most` parts; parts of parts among them. At most one of them is
        longer than 100 characters. Every third text has characters of a few kinds."""
        found, is_long, atoms = [], draw.random() < 0.05, ATOMS
        if draw.random() < 0.35:
            kinds = draw.choices(kinds_of_characters(), k=4)
            atoms = [*map(draw.choice, kinds), *draw.sample(ATOMS, 5)]
        for _ in range(draw.randint(0, most)):
            part = draw.choice(atoms if draw.random() < 0.6 or not self.parts else self.parts)
            size = len(part) if draw.random() < 0.8 else draw.randint(0, len(part))
            if size > 100 and not is_long:
                size = draw.randint(1, 100)
            is_long = is_long and size <= 100
            found.append(part[:size])
        return "".join(found)


def draw_world(draw: random.Random, *, largest: int = 3000) -> World:
    """Returns a drawn tokenizer. `largest`: the most tokens of its vocabulary; 500,000 take a
    second."""
    model, is_bytes, parts, oddities = draw_model(draw, largest)
    config: Config = {"version": "1.0", "model": model}
    config["pre_tokenizer"] = draw_pre_tokenizer(draw, model["type"], is_bytes)
    config["normalizer"] = draw_normalizer(draw, is_bytes)
    config["added_tokens"] = draw_added(draw, model)
    config["post_processor"], template = draw_template(draw, model, config["added_tokens"])
    config["truncation"] = draw_truncation(draw)
    config["padding"] = draw_padding(draw)
    config["decoder"] = DECODER if is_bytes else None
    contents = [token["content"] for token in config["added_tokens"]]
    named = [
        *oddities,
        *([template] if template else []),
        *(name for name in ("truncation", "padding", "normalizer") if config[name]),
        *(["thousands of added tokens"] if len(contents) > 999 else []),
    ]
    few = draw.sample(contents, min(len(contents), 40))
    return World(json.dumps(config), (*parts, *few), tuple(named))
