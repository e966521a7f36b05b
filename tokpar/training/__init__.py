"""The trainer of byte-level BPE vocabularies.

`corpus.py` divides files and texts where pre-tokens end anyway, `counting.py` counts pre-tokens,
`merges.py` learns merges from the counts, `trainer.py` puts it together.
"""

from tokpar.training.trainer import train

__all__ = ["train"]
