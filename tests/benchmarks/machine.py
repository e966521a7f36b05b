"""On what machine, with which versions and plugins a script has measured."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import tokpar
from tokpar.limits import cpu_count

OURS = {"tokpar", "numpy", "tokenizers", "tiktoken", "regex", "pluggy"}
OTHERS = {"transformers", "fastokens", "gigatoken", "snaptokens", "tokie", "tuetoken"}


def provenance(command: Sequence[str]) -> dict[str, Any]:
    """What one needs besides the texts to judge the figures, or to make them again."""
    installed = {str(each.metadata["Name"]).lower(): each for each in metadata.distributions()}
    known = OURS | OTHERS
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": " ".join(command),
        "processor": processor(),
        "cores": {"logical": os.cpu_count(), "usable": cpu_count()},
        "system": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: installed[name].version for name in sorted(known & installed.keys())},
        "plugins": {
            plugin.name: f"{plugin.owner} {plugin.version}"
            for plugin in tokpar.plugins()
            if plugin.problem is None
        },
    }


def processor() -> str:
    """The processor's name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
