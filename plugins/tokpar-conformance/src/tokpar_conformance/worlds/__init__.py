"""Drawn tokenizers as odd as those of the world: files that any engine of `tokenizer.json` reads,
and texts that meet their oddities. `draw_world(random.Random(seed))` draws one."""

from __future__ import annotations

from tokpar_conformance.worlds.world import World, draw_world

__all__ = ["World", "draw_world"]
