"""The parts of a tokenizer's structure, and what differs between the parts of two."""

from __future__ import annotations

from typing import Any

from tokpar.certificate.canonical_form import JsonForm, RankForm
from tokpar_diff.sides import Side
from tokpar_diff.witness_texts import pair_of

Parts = dict[str, Any]


def parts_of(side: Side) -> Parts:
    """Returns the parts by name; {} for a tokenizer of which no form is known."""
    form = side.form
    if isinstance(form, RankForm):
        return {
            "pattern": form.patterns,
            "vocabulary": sorted(form.tokens.items()),
            "added tokens": sorted(form.specials.items()),
        }
    if not isinstance(form, JsonForm):
        return {}
    model = {key: value for key, value in form.model.items() if key not in ("vocab", "merges")}
    merges = form.model.get("merges")
    return {
        "normalizer": form.normalizers,
        "pre-tokenizer": form.pre_tokenizers,
        "model": model,
        "vocabulary": form.model.get("vocab"),
        "merges": None if merges is None else [pair_of(merge) for merge in merges],
        "added tokens": sorted(form.added_tokens, key=lambda token: (token.content, token.id)),
        "post-processor": form.post_processor,
        "truncation and padding": (form.truncation, form.padding, form.skips_special),
        "decoder": side.decoder,
        "config": (side.cleans_up, side.own_decoding),
    }
