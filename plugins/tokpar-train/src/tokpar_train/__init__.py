"""The trainer of byte-level BPE vocabularies.

`corpus.py` divides files and texts where pre-tokens end anyway, `merges.py` learns merges from
counts, `trainer.py` counts pre-tokens and puts it together.
"""

from tokpar.training.trainer import train

__all__ = ["train"]
