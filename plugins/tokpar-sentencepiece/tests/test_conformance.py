import pytest
from trained import LINES, SHAPES, processor

from tokpar.testing import check_tokenizer


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_model_conforms(shape):
    check_tokenizer(processor(shape), texts=[*LINES, "  ▁ x▁▁the "], examples=10)
