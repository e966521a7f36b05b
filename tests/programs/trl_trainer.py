"""TRL: `SFTTrainer` tokenizes chats with a prompt and a completion before it trains, with the
tokenizer that it is given."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.programs.documents import documents
from tests.programs.small_models import save_model
from tests.programs.tokenizer_files import own_and_ours
from tests.programs.turns import Row, compare

INSTALL = ("trl==1.16.0", "transformers==5.24.0", "torch==2.13.0")
VERSIONS = ("trl", "transformers", "datasets", "torch")


def rows() -> Iterator[Row]:
    from transformers import AutoModelForCausalLM

    own, ours = own_and_ours()
    with tempfile.TemporaryDirectory() as made:
        folder = save_model(Path(made), "LlamaConfig", num_key_value_heads=2)
        model = AutoModelForCausalLM.from_pretrained(folder)
        texts = documents(4_000, 180)
        batches = [texts[k : k + 60] for k in range(0, len(texts), 60)]
        sides = (_prepared(model, tokenizer, made) for tokenizer in (own, ours))
        yield compare("SFTTrainer, chats of 4,000", *sides, batches)


def _prepared(model: Any, tokenizer: Any, folder: str) -> Callable[[list[str]], list[Any]]:
    """Returns what makes a trainer of chats: each is half prompt, half completion."""
    from datasets import Dataset, disable_caching, disable_progress_bars
    from trl import SFTConfig, SFTTrainer

    disable_caching()
    disable_progress_bars()
    settings = SFTConfig(folder, max_length=2_048, report_to=[], use_cpu=True, bf16=False)

    def prepared(texts: list[str]) -> list[Any]:
        rows = [
            {
                "prompt": [{"role": "user", "content": text[:2_000]}],
                "completion": [{"role": "assistant", "content": text[2_000:]}],
            }
            for text in texts
        ]
        trainer = SFTTrainer(
            model, settings, train_dataset=Dataset.from_list(rows), processing_class=tokenizer
        )
        made = trainer.train_dataset
        return [made[name][:] for name in sorted(made.column_names)]

    return prepared
