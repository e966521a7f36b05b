"""Write the shards of the folder golden with the libraries that own the formats.

Run it by hand, once in an environment with megatron-core and torch, once in one with datatrove and
tokenizers; what is not installed is left as it is:

    python plugins/tokpar-corpus/tests/golden_shards.py

The builders of megatron-core 0.16.1 (PyPI) and 0.20.0 (Megatron-LM d98e8a64ddf3) both write the
bytes of megatron.bin and megatron.idx. The ids of Megatron's shard are those of
tests/vocab/deepseek_part.json for the texts of documents.jsonl, each with the end token at its end.
Datatrove takes the number of tokens for the highest id, so its shard is of
tests/vocab/llama_style.json; it puts its end token in the place of the BOS that this tokenizer
inserts."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from importlib import import_module
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
VOCAB = Path(__file__).parents[3] / "tests" / "vocab"
END_ID = 1
IDS = "ids.json"


def texts() -> list[str]:
    """The documents."""
    rows = (GOLDEN / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row)["text"] for row in rows]


def write_ids() -> None:
    """The ids of the documents, for environments without tokenizers."""
    tokenizers = import_module("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    ids = [[*tokenizer.encode(text).ids, END_ID] for text in texts()]
    (GOLDEN / IDS).write_text(json.dumps(ids) + "\n", encoding="utf-8")


def write_megatron() -> None:
    """A `.bin` and `.idx` of `IndexedDatasetBuilder`, as Megatron's preprocess_data.py has it."""
    numpy, torch = import_module("numpy"), import_module("torch")
    indexed = import_module("megatron.core.datasets.indexed_dataset")
    builder = indexed.IndexedDatasetBuilder(str(GOLDEN / "megatron.bin"), dtype=numpy.int32)
    for ids in json.loads((GOLDEN / IDS).read_text(encoding="utf-8")):
        builder.add_item(torch.IntTensor(ids))
        builder.end_document()
    builder.finalize(str(GOLDEN / "megatron.idx"))


def write_datatrove() -> None:
    """A `.ds` of `DocumentTokenizer`."""
    data = import_module("datatrove.data")
    tokens = import_module("datatrove.pipeline.tokens")
    with tempfile.TemporaryDirectory() as folder:
        step = tokens.DocumentTokenizer(
            folder,
            os.path.relpath(VOCAB / "llama_style.json"),  # it stands in the metadata
            eos_token="</s>",
            shuffle_documents=False,
            save_final_metadata=True,
        )
        step.run(data.Document(text=text, id=str(k)) for k, text in enumerate(texts()))
        for path in Path(folder).iterdir():
            shutil.copy(path, GOLDEN / f"datatrove{path.name[path.name.index('.') :]}")


def main() -> None:
    for write in (write_ids, write_megatron, write_datatrove):
        try:
            write()
        except ModuleNotFoundError as error:
            print(f"{write.__name__}: left as it is, {error}")


if __name__ == "__main__":
    main()
