"""`verify` names every difference from the manifest; what `build` writes has none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import write_rows
from tokpar_corpus import VerifyReport, audit, build, manifest_of, stats, verify
from tokpar_corpus.document_encoder import LONG as LONG_DOCUMENT
from tokpar_corpus.manifest import MANIFEST_NAME, Manifest
from tokpar_corpus.shards import open_shard
from tokpar_corpus.tokenizer_source import load_for_corpus
from tokpar_corpus.verifying import bytes_to_verify
from written_shards import TEXTS, VOCAB, kind, names_of

from tests.support.profiles import cases
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer

PARTS = ("deepseek_part", "llama_style", "metaspace_unigram", "bert_part")
DEEPSEEK = str(VOCAB / "deepseek_part.json")
LONG = "The quick brown fox jumps over the lazy dog. " * 14_000


def built(folder: Path, texts: list[str] = TEXTS, **options: object) -> tuple[Path, Path]:
    """A folder of shards, and the input that they were made of."""
    source = write_rows(folder / "texts.jsonl", texts)
    settings = {"tokenizer": DEEPSEEK, "append_eod": True, "eod_token": 1} | options
    build([source], folder / "out", **settings)
    return folder / "out", source


BUILT = [*product(["megatron", "numpy", "parquet", "arrow"], PARTS)]


def failed(report: VerifyReport) -> list[str]:
    return [result.check for result in report.results if result.count]


@pytest.mark.parametrize(("format_", "name"), cases(BUILT, BUILT[::5]))
def test_what_build_wrote_passes_audit_and_verify(format_: str, name: str, tmp_path: Path) -> None:
    end = {"deepseek_part": True, "llama_style": True}.get(name, False)
    options = {"append_eod": end, "eod_token": 2 if name == "llama_style" else 1}
    tokenizer = str(VOCAB / f"{name}.json")
    folder, source = built(tmp_path, [*TEXTS, ""], tokenizer=tokenizer, format=format_, **options)
    report = audit(folder, tokenizer, against=source)
    assert (names_of(report), report.documents) == ([], len(TEXTS) + 1)
    for against in ([], [source]):
        verified = verify(folder, sample=1, against=against)
        assert failed(verified) == []
        if against or name != "metaspace_unigram":
            assert verified.sampled == len(TEXTS) + 1


def test_seams_of_a_divided_document_are_found_again(tmp_path: Path) -> None:
    folder, source = built(tmp_path, [TEXTS[0], LONG])
    [divided] = [each for shard in manifest_of(folder).shards for each in shard.divided]
    for against in ([], [source]):
        report = verify(folder, sample=0, against=against)
        assert report
        assert (report.seams, report.sampled) == (divided.seams, 0)


@pytest.mark.parametrize("texts", [[LONG], [LONG + "x", TEXTS[0]]])
def test_a_long_document_is_verified_by_own_calls_of_parts_of_it(
    texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The own call of 50 MB in one takes more than a quarter of an hour."""
    folder, _ = built(tmp_path, texts)
    lengths = []
    encode = HuggingFaceTokenizer.encode

    def measured(self: HuggingFaceTokenizer, text: str) -> Any:
        lengths.append(len(text))
        return encode(self, text)

    monkeypatch.setattr(HuggingFaceTokenizer, "encode", measured)
    moved: list[int] = []
    report = verify(folder, sample=1, on_read=moved.append)
    assert (bool(report), report.sampled) == (True, len(texts))
    assert sum(moved) == bytes_to_verify(manifest_of(folder))
    assert max(lengths, default=0) < LONG_DOCUMENT


def test_a_changed_id_of_a_long_document_is_named(tmp_path: Path) -> None:
    folder, source = built(tmp_path, [LONG])
    [path] = folder.glob("*.bin")
    data = bytearray(path.read_bytes())
    data[400:404] = data[404:408]
    path.write_bytes(data)
    assert verify(folder, sample=1, against=source).of("samples").shown[0].place == 100


def rewrite(folder: Path, change: Callable[[Manifest], Manifest]) -> None:
    """Changes the manifest of a folder."""
    path = folder / MANIFEST_NAME
    manifest = Manifest.from_json(path.read_text(encoding="utf-8"))
    path.write_text(change(manifest).to_json(), encoding="utf-8")


def test_another_digest_or_number_of_seams_is_named(tmp_path: Path) -> None:
    folder, _ = built(tmp_path, [LONG])

    def other(digest: str, more: int) -> Callable[[Manifest], Manifest]:
        def change(manifest: Manifest) -> Manifest:
            [shard] = manifest.shards
            [divided] = shard.divided
            divided = replace(divided, digest=digest, seams=divided.seams + more)
            return replace(manifest, shards=(replace(shard, divided=(divided,)),))

        return change

    rewrite(folder, other("0" * 64, 0))
    report = verify(folder, sample=0)
    assert failed(report) == ["seams"]
    assert report.of("seams").shown[0].expected == "0" * 64
    rewrite(folder, other("0" * 64, 1))
    assert "seams" in verify(folder, sample=0).of("seams").shown[0].found


def test_a_changed_id_of_a_shard_is_named(tmp_path: Path) -> None:
    folder, source = built(tmp_path)
    [path] = folder.glob("*.bin")
    data = bytearray(path.read_bytes())
    data[4:8] = data[8:12]  # the second id becomes the third one
    path.write_bytes(data)
    for against in ([], [source]):
        report = verify(folder, sample=1, against=against)
        assert report.of("files").shown[0].shard == path.name
    assert failed(report) == ["files", "samples"]
    assert (report.of("samples").shown[0].document, report.of("samples").shown[0].place) == (0, 1)


def test_ids_of_another_document_are_named_though_all_digests_agree(tmp_path: Path) -> None:
    folder, source = built(tmp_path, format="numpy")
    [path] = folder.glob("*.ids.npy")
    ids = np.load(path)
    assert kind("deepseek").adapter.decode(ids[:1].tolist()) == "Hello"
    parts = [kind("deepseek").adapter.encode(part) for part in ("H", "ello")]
    assert len(parts[0]) + len(parts[1]) < 5
    ids = np.concatenate([*parts, ids[1:]]).astype(ids.dtype)
    np.save(path, ids)
    [beside] = folder.glob("*.offsets.npy")
    offsets = np.load(beside)
    offsets[1:] += len(ids) - offsets[-1]
    np.save(beside, offsets)

    def digest_again(manifest: Manifest) -> Manifest:
        import hashlib

        [shard] = manifest.shards
        files = [
            replace(
                file,
                bytes=(folder / file.name).stat().st_size,
                sha256=hashlib.sha256((folder / file.name).read_bytes()).hexdigest(),
            )
            for file in shard.files
        ]
        return replace(manifest, shards=(replace(shard, files=tuple(files), tokens=len(ids)),))

    rewrite(folder, digest_again)
    assert failed(verify(folder, sample=1)) == ["samples"]
    report = verify(folder, sample=1, against=source)
    assert failed(report) == ["samples"]
    assert report.of("samples").shown[0].document == 0


def test_missing_files_and_files_of_nobody_are_named(tmp_path: Path) -> None:
    folder, _ = built(tmp_path)
    [index] = folder.glob("*.idx")
    index.rename(folder / "shard-99999-0000.idx")
    report = verify(folder)
    assert failed(report) == ["files", "counts"]
    assert [fault.found for fault in report.of("files").shown] == ["no such file", "a file"]


def test_another_tokenizer_and_other_edges_are_named(tmp_path: Path) -> None:
    folder, source = built(tmp_path)
    report = verify(folder, tokenizer=str(VOCAB / "llama_style.json"), sample=1, against=source)
    assert {"tokenizer", "edges", "samples"} <= set(failed(report))


def llama_folder(tmp_path: Path) -> tuple[Path, Any]:
    """A folder whose class in transformers encodes otherwise than its file alone."""
    transformers = pytest.importorskip("transformers", reason="transformers is missing")
    folder = tmp_path / "llama"
    folder.mkdir()
    shutil.copy(VOCAB / "llama_style.json", folder / "tokenizer.json")
    config = {"tokenizer_class": "LlamaTokenizer", "eos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder, transformers.AutoTokenizer.from_pretrained(folder)


def test_a_corpus_of_a_folder_has_the_ids_and_the_loader_of_transformers(tmp_path: Path) -> None:
    tokenizer, own = llama_folder(tmp_path)
    texts = [*TEXTS, "  two   cats"]
    folder, source = built(tmp_path, texts, tokenizer=str(tokenizer), eod_token=None)
    block = next(iter(open_shard(str(next(folder.glob("*.bin")))).blocks()))
    assert [block[k].tolist() for k in range(len(block))] == [
        [*own(text).input_ids, own.eos_token_id] for text in texts
    ]
    loader = json.loads((folder / MANIFEST_NAME).read_text())["tokenizer"]["loader"]
    assert (loader["name"], loader["tokenizer_class"]) == ("AutoTokenizer", "LlamaTokenizer")
    assert sorted(loader["versions"]) == ["tokenizers", "transformers"]
    assert verify(folder, sample=1, against=source)
    assert verify(folder, tokenizer=load_for_corpus(str(tokenizer), None, {}).adapter, sample=1)


def test_a_changed_input_is_named(tmp_path: Path) -> None:
    folder, source = built(tmp_path)
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("document", "Document"), encoding="utf-8")
    report = verify(folder, sample=1, against=source)
    assert failed(report) == ["inputs", "samples"]
    source.write_text(text + json.dumps({"text": "more"}) + "\n", encoding="utf-8")
    report = verify(folder, sample=0, against=source)
    assert failed(report) == ["counts", "inputs"]


def test_a_sample_has_a_document_of_each_shard(tmp_path: Path) -> None:
    folder, _ = built(tmp_path, TEXTS * 5, shard_size=2000)
    shards = len(manifest_of(folder).shards)
    assert shards > 1
    one, other = (verify(folder, sample=0.001, seed=7) for _ in range(2))
    assert one.sampled == other.sampled == shards


# --------------------------------------------------------------------------- stats


def test_stats_are_those_of_the_documents(tmp_path: Path) -> None:
    folder, source = built(tmp_path, TEXTS * 5, shard_size=2000)
    report = stats(folder, DEEPSEEK)
    rows = kind("deepseek").documents(TEXTS * 5)
    lengths = sorted(map(len, rows))
    assert report.total.documents == len(rows)
    assert report.total.tokens == sum(lengths)
    assert (report.total.shortest, report.total.longest) == (lengths[0], lengths[-1])
    assert report.total.quantiles[3] == lengths[len(lengths) // 2 - 1]
    assert report.total.text_bytes == sum(len(text.encode()) for text in TEXTS * 5)
    assert report.total.tokens_per_byte == report.total.tokens / report.total.text_bytes
    assert {each.sources for each in report.shards} == {(str(source),)}
    assert sum(each.documents for each in report.shards) == report.total.documents
