from tokie_unigram import saved
from tokpar_conformance import check_tokenizer

import tokpar


def test_tokie_conforms_and_gives_the_ids_of_tokenizers(tmp_path):
    path = saved(tmp_path)
    check_tokenizer(tokpar.load(path, engine="tokie"), tokpar.load(path))
