from tokpar_conformance import check_tokenizer

import tokpar


def test_gigatoken_conforms_and_gives_the_ids_of_tokenizers():
    check_tokenizer(tokpar.load("default", engine="gigatoken"), tokpar.load("default"))
