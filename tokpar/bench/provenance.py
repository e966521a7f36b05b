"""On what a run was made: machine, versions, texts, tokenizers, command line, date."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
from collections.abc import Iterable, Sequence
from importlib import import_module, metadata, resources
from pathlib import Path
from typing import Any

import tokpar
from tokpar.bench.datasets import Dataset
from tokpar.bench.subjects import DEFAULT, Subject
from tokpar.limits import cpu_count

OURS = ("tokpar", "numpy", "tokenizers", "tiktoken", "regex", "pluggy")
OTHERS = ("transformers", "sentencepiece", "fastokens", "gigatoken", "tokie")


def provenance(
    datasets: Iterable[Dataset], subjects: Iterable[Subject], command: Sequence[str]
) -> dict[str, Any]:
    """Everything one needs to judge the figures, or to make them again."""
    physical, memory = _from_psutil()
    installed = {str(each.metadata["Name"]).lower() for each in metadata.distributions()}
    packages = [name for name in (*OURS, *OTHERS) if name in installed]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": " ".join(command),
        "processor": processor(),
        "cores": {"logical": os.cpu_count(), "usable": cpu_count(), **physical},
        "memory_bytes": memory,
        "system": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: metadata.version(name) for name in packages},
        "plugins": {
            plugin.name: f"{plugin.owner} {plugin.version}"
            for plugin in tokpar.plugins()
            if plugin.problem is None
        },
        "texts": [_about_texts(dataset) for dataset in datasets],
        "tokenizers": [_about_tokenizer(subject) for subject in subjects],
    }


def processor() -> str:
    """The processor's name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _from_psutil() -> tuple[dict[str, int | None], int | None]:
    """Cores and bytes of memory, as far as they can be told."""
    try:
        psutil: Any = import_module("psutil")
    except ImportError:
        return {}, None
    return {"physical": psutil.cpu_count(logical=False)}, psutil.virtual_memory().total


def _about_texts(dataset: Dataset) -> dict[str, Any]:
    """The hash is of the texts' UTF-8, each followed by a NUL."""
    digest, size = hashlib.sha256(), 0
    for text in dataset.texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(encoded + b"\0")
        size += len(encoded)
    return {
        "name": dataset.name,
        "origin": dataset.origin,
        "texts": len(dataset.texts),
        "code_points": dataset.code_points,
        "bytes": size,
        "sha256": digest.hexdigest(),
        "skipped": list(dataset.skipped),
    }


def _about_tokenizer(subject: Subject) -> dict[str, Any]:
    """Size and hash of its file, as it was given; None for what is no file."""
    file: Any = Path(subject.source)
    if subject.source == DEFAULT:
        file = resources.files("tokpar.data") / "default.json"
    content = file.read_bytes() if file.is_file() else None
    return {
        "name": subject.tokenizer,
        "source": subject.source,
        "engine": subject.engine,
        "adapter": subject.adapter.name,
        "bytes": None if content is None else len(content),
        "sha256": None if content is None else hashlib.sha256(content).hexdigest(),
    }
