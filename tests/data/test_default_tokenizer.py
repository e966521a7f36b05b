"""The bundled default tokenizer: what its file promises, and that its recipe rebuilds it."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import tokpar.registry as registry_module
from tests.conftest import below_one
from tests.recipes import train_default
from tests.support.paths import DATA
from tokpar.cli import main
from tokpar.registry import Registry

FILE = DATA / "default.json"
SDIST_VARIABLE = "TOKPAR_DJANGO_SDIST"
TEXTS = [
    "",
    " ",
    "a",
    "Hello, world! It's 12345 o'clock; they'll be late.",
    "def f(x: int) -> str:\n    return f'{x:>10}'  # comment\n\n\n\tend\r\n",
    "今天很安静，我能听见钟声。とても静かです。안녕하세요 여러분",
    "Привет, мир! مرحبا بالعالم नमस्ते दुनिया สวัสดีชาวโลก שלום עולם",
    "👩‍👩‍👧‍👦👍🏽🇫🇷 e\u0301 \u00a0\u3000\u200b\ufeff\0\x7f\U0010ffff",
    "1" * 400 + "=" * 300 + " " * 300 + "\n" * 300 + "x",
    "".join(map(chr, range(0x3000))),
]


@functools.cache
def data() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return result


@functools.cache
def tokenizer() -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_file(str(FILE))


def merged(token: str, ranks: dict[tuple[str, str], int]) -> list[str]:
    """The BPE model alone on one piece, without any whole-piece shortcut."""
    parts = list(token)
    while len(parts) > 1:
        pairs = itertools.pairwise(parts)
        best, i = min((ranks.get(pair, math.inf), i) for i, pair in enumerate(pairs))
        if best == math.inf:
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


def merge_ranks() -> dict[tuple[str, str], int]:
    pairs = (merge.split(" ") for merge in data()["model"]["merges"])
    return {(left, right): rank for rank, (left, right) in enumerate(pairs)}


def ordinary_tokens() -> list[str]:
    return [token for token in data()["model"]["vocab"] if token != train_default.END_OF_TEXT]


def test_the_file_is_compact_and_under_one_megabyte() -> None:
    content = FILE.read_bytes()
    assert len(content) < 1_000_000
    again = json.dumps(data(), ensure_ascii=False, separators=(",", ":"))
    assert content == again.encode("utf-8") + b"\n"


def test_the_file_has_the_sha256_that_script_and_readme_name() -> None:
    digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert digest == train_default.DEFAULT_SHA256
    assert digest in readme
    assert train_default.SDIST_SHA256 in readme


def test_there_are_16384_entries_with_ids_without_gaps() -> None:
    ids = data()["model"]["vocab"].values()
    assert sorted(ids) == list(range(16384))
    below_one()
    assert tokenizer().get_vocab_size(with_added_tokens=True) == 16384


def test_every_byte_has_a_token() -> None:
    alphabet = below_one().pre_tokenizers.ByteLevel.alphabet()
    single = {token for token in ordinary_tokens() if len(token) == 1}
    assert len(single) == 256
    assert single == set(alphabet)


def test_the_only_special_token_is_end_of_text_with_id_0() -> None:
    (token,) = data()["added_tokens"]
    assert (token["id"], token["content"]) == (0, "<|endoftext|>")
    assert token["special"]
    assert not token["normalized"]
    assert tokenizer().encode("a<|endoftext|>").ids[-1] == 0


def test_every_token_is_reachable_by_merges() -> None:
    ranks = merge_ranks()
    assert [token for token in ordinary_tokens() if merged(token, ranks) != [token]] == []


def test_every_token_is_one_token_for_the_engine_without_pre_tokenizer() -> None:
    tokenizers = below_one()
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.model = tokenizer().model
    vocab, tokens = data()["model"]["vocab"], ordinary_tokens()
    encodings = model.encode_batch(tokens)
    wrong = [t for t, e in zip(tokens, encodings, strict=True) if e.ids != [vocab[t]]]
    assert wrong == []


def test_each_merge_makes_one_token_shorter_than_the_limit() -> None:
    made = ["".join(pair) for pair in merge_ranks()]
    vocab = data()["model"]["vocab"]
    assert [vocab[token] for token in made] == list(range(257, 16384))
    assert max(map(len, made)) < train_default.MAX_TOKEN_LENGTH


def test_the_pipeline_is_the_llama_3_split_and_byte_level() -> None:
    split, byte_level = data()["pre_tokenizer"]["pretokenizers"]
    assert split["pattern"]["Regex"] == train_default.PATTERN
    assert split["behavior"] == "Isolated"
    assert not byte_level["use_regex"]
    assert not byte_level["add_prefix_space"]
    assert data()["normalizer"] is None
    assert data()["post_processor"] is None


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:20]))
def test_assorted_text_survives_the_round_trip(text: str) -> None:
    assert tokenizer().decode(tokenizer().encode(text).ids) == text


def test_translations_are_unescaped_once_each_and_without_the_header() -> None:
    source = (
        'msgid ""\nmsgstr ""\n"Language: xx\\n"\n\n#: a.py:1\nmsgid "a"\nmsgstr "é \\"q\\"\\n"\n'
        '\nmsgid "b"\nmsgid_plural "bs"\nmsgstr[0] ""\n"one "\n"two"\nmsgstr[1] "é \\"q\\"\\n"\n'
        '\nmsgid "c"\nmsgstr ""\n\n#~ msgid "old"\n#~ msgstr "gone"\n'
    )
    assert train_default.translations(source) == 'é "q"\n\none two'


def test_plain_prose_drops_the_markup() -> None:
    source = ".. note::\n   See :ref:`the shell <shell>` and :class:`~a.B`, ``x``.\n=====\nEnd\n"
    assert train_default.plain_prose(source) == "   See the shell and a.B, x.\nEnd\n"


def test_another_archive_is_refused_with_both_hashes(tmp_path: Path) -> None:
    wrong = tmp_path / train_default.SDIST_NAME
    wrong.write_bytes(b"something else")
    with pytest.raises(ValueError, match=train_default.SDIST_SHA256) as caught:
        next(train_default.training_texts(wrong))
    assert hashlib.sha256(b"something else").hexdigest() in str(caught.value)


needs_sdist = pytest.mark.skipif(
    SDIST_VARIABLE not in os.environ,
    reason=f"set {SDIST_VARIABLE} to the file {train_default.SDIST_NAME} to rebuild",
)


@needs_sdist
@pytest.mark.parametrize("trainer", ["train", "train_with_huggingface"])
def test_the_recipe_rebuilds_the_same_bytes(trainer: str) -> None:
    below_one()
    texts = train_default.training_texts(Path(os.environ[SDIST_VARIABLE]))
    assert getattr(train_default, trainer)(texts) == FILE.read_bytes()


@needs_sdist
def test_the_command_rebuilds_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = [EntryPoint("train", "tokpar_train", "tokpar")]
    monkeypatch.setattr(registry_module, "_registry", [Registry.load(installed)])
    monkeypatch.delenv("TOKPAR_PLUGINS", raising=False)
    end = train_default.END_OF_TEXT
    texts = train_default.training_texts(Path(os.environ[SDIST_VARIABLE]))
    corpus, out = tmp_path / "corpus.txt", tmp_path / "default.json"
    corpus.write_bytes(end.join(texts).encode())
    options = ["--vocab-size", train_default.VOCAB_SIZE, "--special", end, "--min-frequency", 2]
    options += ["--max-token-length", train_default.MAX_TOKEN_LENGTH]
    assert main(["train", *map(str, [corpus, *options, "-o", out])]) == 0
    assert json.loads(out.read_bytes()) == data()
    assert out.read_bytes() == FILE.read_bytes()
