"""llama-cpp-python: `LlamaHFTokenizer`, which gives its models the ids of a tokenizer of
transformers; patched by `patch_transformers`.

Its package is compiled from source. Only the class is run, so nothing is optimized."""

from __future__ import annotations

from collections.abc import Iterator

from tests.programs.documents import documents
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare

INSTALL = ("llama-cpp-python==0.3.36", "transformers==5.24.0")
CMAKE_ARGS = (
    "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
    "-DCMAKE_C_FLAGS_RELEASE=-O0",
    "-DLLAVA_BUILD=OFF",
    "-DGGML_NATIVE=OFF",
    "-DGGML_OPENMP=OFF",
)
VERSIONS = ("llama-cpp-python", "transformers")


def rows() -> Iterator[Row]:
    from llama_cpp.llama_tokenizer import LlamaHFTokenizer

    import tokpar

    own = LlamaHFTokenizer.from_pretrained(directory())
    with tokpar.patch_transformers():
        ours = LlamaHFTokenizer.from_pretrained(directory())
    for share, size in enumerate((40, 4_000)):
        texts = [
            text[k : k + size].encode("utf-8")
            for text in documents(12_000, 13, share)
            for k in range(0, 12_000, size)
        ]
        yield compare(f"tokenize, {size:,} characters", own.tokenize, ours.tokenize, texts)
    ids = [own.tokenize(text.encode("utf-8")) for text in documents(4_000, 13)]
    yield compare("detokenize, 4,000 characters", own.detokenize, ours.detokenize, ids)
    if not ours.hf_tokenizer.tokpar_calls:
        raise RuntimeError("no text went through tokpar")
