"""semchunk: chunks of 512 tokens, by a tokenizer of transformers, by tiktoken, and by a counter."""

from __future__ import annotations

from collections.abc import Iterator

from tests.programs.documents import documents
from tests.programs.tokenizer_files import own_and_ours
from tests.programs.turns import Row, compare

INSTALL = ("semchunk==4.1.1", "transformers==5.24.0")
VERSIONS = ("semchunk", "transformers", "tiktoken")


def rows() -> Iterator[Row]:
    import tiktoken
    from semchunk import chunkerify

    import tokpar

    # memoize=False: or a second pass would time semchunk's own cache of counts
    texts = documents()
    own, ours = own_and_ours()
    of_own = chunkerify(own, 512, memoize=False)
    yield compare("a transformers tokenizer", of_own, chunkerify(ours, 512, memoize=False), texts)
    counter = tokpar.Encoder(tokpar.load(ours, add_special_tokens=False)).count
    yield compare(
        "Encoder.count for the tokenizer", of_own, chunkerify(counter, 512, memoize=False), texts
    )
    encoding = tiktoken.get_encoding("cl100k_base")
    of_tiktoken = chunkerify(encoding, 512, memoize=False)
    with_tokpar = chunkerify(tokpar.as_tiktoken(encoding), 512, memoize=False)
    yield compare("tiktoken", of_tiktoken, with_tokpar, documents())
