"""What tokpar keeps with each caller's `tokenizers.Tokenizer`: its snapshots, and whether it was
trained."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokpar.adapters.hf_v0 import HuggingFaceTokenizer

_KEY = "_tokpar"


@dataclass(slots=True)
class KeptOfObject:
    """The snapshots of one object, by the wrapper's class and the settings.

    `was_trained`: the model may have changed after a snapshot was made. If it was trained in place,
    the engine goes on returning old ids for words that it encoded before, and no file shows them
    (docs/findings.md)."""

    snapshots: dict[Hashable, HuggingFaceTokenizer] = field(default_factory=dict)
    was_trained: bool = False

    def look_for_training(self, own: Any) -> None:
        """Set `was_trained` if the model of `own` is not what each snapshot has seen."""
        if not all(each.look.is_same_model(own) for each in self.snapshots.values()):
            self.was_trained = True


def kept_of(own: object) -> KeptOfObject:
    """Returns what is kept of an object. It is an attribute of the object, because the objects of
    tokenizers below 0.23 have no weak references.

    An object that takes no attributes counts as trained: nobody would notice a training."""
    attributes: dict[str, Any] | None = getattr(own, "__dict__", None)
    if attributes is None:
        return KeptOfObject(was_trained=True)
    kept: KeptOfObject = attributes.setdefault(_KEY, KeptOfObject())
    return kept
