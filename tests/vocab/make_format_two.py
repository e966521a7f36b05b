"""Write the files of format_two.json as tokenizers 1.0.0rc3 writes them.

pip install tokenizers==1.0.0rc3
python -m tests.vocab.make_format_two
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.support.file_formats import NAMES, SAMPLES, sample, written


def as_written(config: dict[str, Any]) -> Any:
    from tokenizers import Tokenizer

    with tempfile.TemporaryDirectory() as directory:
        own = Tokenizer.from_file(str(written(Path(directory), config)))
    return json.loads(own.__reduce__()[1][0])


if __name__ == "__main__":
    ones = {name: sample(name, "one") for name in NAMES}
    both = {name: {"one": one, "two": as_written(one)} for name, one in ones.items()}
    text = json.dumps(both, ensure_ascii=False, separators=(",", ":"))
    SAMPLES.write_text(text + "\n", encoding="utf-8")
