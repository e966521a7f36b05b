from tokpar_example import Letters

from tokpar.testing import check_tokenizer


def test_letters_conform():
    check_tokenizer(Letters())
