"""Train the bundled default tokenizer: python -m tests.recipes.train_default SDIST --out FILE.

The text comes from one hash-pinned source distribution (Django, BSD-3-Clause). `training_texts`
gives it in the order and form the trainer reads it. `train` is `tokpar.train`, of the
package tokpar-train, whose tests hold it against Hugging Face's trainer, which
made the file first. Fails if the file is not the one whose hash stands here.

Rules of the trainer, frozen (they are those of `tokenizers.trainers.BpeTrainer`):

- Words: `PATTERN` on each text alone, then its bytes. A word counts as often as it occurs.
- Ids: `<|endoftext|>` is 0; the bytes follow, ordered by their ByteLevel character
  (`pre_tokenizers.ByteLevel.alphabet()` by code point); then one id per merge.
- Each step merges the most frequent pair of neighbouring tokens. Ties: "huggingface", the smallest
  (left id, right id) wins. Frequencies count overlapping pairs ("aaa" holds the pair aa twice);
  recounting them after each merge, and updating them as HF does, give the same merges here.
- A pair whose joint length reaches `MAX_TOKEN_LENGTH` bytes is never merged.
- Training stops at `VOCAB_SIZE` entries, special token and bytes included.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

SDIST_NAME = "django-5.2.19.tar.gz"
SDIST_SHA256 = "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1"
DEFAULT_SHA256 = "7f1f1e40e294e39eb95167ba4e64ed40c96aacada027826a6ff890cc52a24844"

VOCAB_SIZE = 16384
MIN_FREQUENCY = 2
MAX_TOKEN_LENGTH = 24
END_OF_TEXT = "<|endoftext|>"
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The pre-tokenizer regex of Llama 3."""

LANGUAGES = {
    "zh_Hans": 12, "zh_Hant": 8, "ja": 10, "ko": 8,
    "ru": 6, "uk": 3, "el": 4, "ar": 6, "fa": 4, "he": 4, "hi": 6, "bn": 3, "ta": 3, "th": 4,
    "de": 6, "fr": 6, "es": 6, "pt_BR": 5, "it": 5, "nl": 4, "pl": 4, "sv": 3, "cs": 3,
    "tr": 4, "vi": 4, "id": 3, "ro": 2, "hu": 2, "fi": 2, "da": 2,
}  # fmt: skip
"""How often the translations of each language are read."""


@dataclass(frozen=True)
class Source:
    """Files of the archive, how often they are read, and what is left of their text."""

    include: str
    exclude: tuple[str, ...] = ()
    repeat: int = 1
    clean: Callable[[str], str] = str


ROLE = re.compile(r":[\w:+-]+:`[~!]?([^`<]*?)\s*(?:<[^`>]*>)?`")
DIRECTIVE = re.compile(r"^\.\. .*\n|^ *:\w+:.*\n|^([=\-~^*#\"'])\1{3,}\n", re.MULTILINE)


def plain_prose(text: str) -> str:
    """Documentation without markup: ":ref:`the shell <shell>`" -> "the shell"."""
    return ROLE.sub(r"\1", DIRECTIVE.sub("", text)).replace("``", "")


def translations(text: str) -> str:
    """The translated strings of a .po file, each once, one per line."""
    entries = re.findall(r'^msgstr(?:\[\d+\])? ((?:".*"\n)+)', text + "\n", re.MULTILINE)
    strings = ["".join(re.findall(r'^"(.*)"$', entry, re.MULTILINE)) for entry in entries[1:]]
    unescaped = [re.sub(r"\\(.)", unescape, string) for string in strings]
    return "\n".join(dict.fromkeys(filter(None, unescaped)))


def unescape(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1])


SOURCES = [
    Source("docs/*.txt", exclude=("docs/releases/*",), repeat=6, clean=plain_prose),
    Source("docs/releases/*.txt", repeat=2, clean=plain_prose),
    Source("django/*.py", exclude=("*/locale/*",)),
    Source("django/*.js", exclude=("*/vendor/*", "*.min.js"), repeat=4),
    Source("django/*.html", repeat=3),
    Source("django/*.css", exclude=("*/vendor/*",), repeat=2),
    *(
        Source(f"django/*/locale/{language}/*.po", repeat=repeat, clean=translations)
        for language, repeat in LANGUAGES.items()
    ),
]


def verify(path: Path, expected: str) -> None:
    """Raise ValueError unless the file has this SHA-256."""
    got = hashlib.sha256(path.read_bytes()).hexdigest()
    if got != expected:
        raise ValueError(f"{path}: sha256 must be {expected}, got {got}")


def archive_texts(sdist: Path) -> dict[str, str]:
    """The text files of the archive that a source asks for, by path below its top folder."""
    texts = {}
    with tarfile.open(sdist, "r:gz") as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            if any(fnmatchcase(name, source.include) for source in SOURCES):
                content = archive.extractfile(member)
                assert content is not None
                texts[name] = content.read().decode("utf-8")
    return texts


def training_texts(sdist: Path) -> Iterator[str]:
    """The training texts: source by source, sorted by path, each source `repeat` times."""
    verify(sdist, SDIST_SHA256)
    texts = archive_texts(sdist)
    for source in SOURCES:
        names = [
            name
            for name in sorted(texts)
            if fnmatchcase(name, source.include)
            and not any(fnmatchcase(name, pattern) for pattern in source.exclude)
        ]
        yield from [source.clean(texts[name]) for name in names] * source.repeat


def train(texts: Iterable[str]) -> bytes:
    """The compact `tokenizer.json` that `tokpar.train` gives for these texts."""
    from tokpar_train.save import compact_json

    import tokpar

    vocabulary = tokpar.train(
        texts,
        vocab_size=VOCAB_SIZE,
        special_tokens=[END_OF_TEXT],
        pattern=PATTERN,
        min_frequency=MIN_FREQUENCY,
        max_token_length=MAX_TOKEN_LENGTH,
    )
    return compact_json(vocabulary, covering=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the bundled default tokenizer.")
    parser.add_argument("sdist", type=Path, metavar="SDIST", help=f"the file {SDIST_NAME}")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="tokenizer.json")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    try:
        print(f"training on {arguments.sdist} ...", file=sys.stderr)
        trained = train(training_texts(arguments.sdist))
        arguments.out.write_bytes(trained)
        verify(arguments.out, DEFAULT_SHA256)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{arguments.out}: sha256 {DEFAULT_SHA256}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
