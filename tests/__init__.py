"""Tests of tokpar by room, as `tokpar/` has them; `support` serves all of them.

The texts that hypothesis draws are those of the conformance kit, and tokenizers in plain Python are
what engines are compared with; the published strategies are tested as our own are, and forged ids
are shown to level `model`, too. All of these are plugins in the wheel of tokpar."""
