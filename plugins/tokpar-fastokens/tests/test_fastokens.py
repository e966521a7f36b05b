import tokpar
from tokpar.testing import check_tokenizer


def test_fastokens_conforms_and_gives_the_ids_of_tokenizers():
    check_tokenizer(tokpar.load("default", engine="fastokens"), tokpar.load("default"))
