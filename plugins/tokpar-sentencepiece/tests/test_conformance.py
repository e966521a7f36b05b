import os

import pytest
from tokpar_conformance import check_tokenizer
from trained import LINES, SHAPES, processor

pytest.importorskip("tokpar_sentencepiece", reason="it is a distribution of its own")

# one shape costs as much as the other tests of it together
CHECKED = [*SHAPES][:: 3 if os.environ.get("TOKPAR_PROFILE") == "quick" else 1]


@pytest.mark.parametrize("shape", CHECKED)
def test_every_shape_of_model_conforms(shape):
    check_tokenizer(processor(shape), texts=[*LINES, "  ▁ x▁▁the "], examples=10)
