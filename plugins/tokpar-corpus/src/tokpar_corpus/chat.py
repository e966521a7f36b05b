"""Turns chats into texts by a chat template of transformers."""

from __future__ import annotations

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

from tokpar.errors import OptionError
from tokpar_corpus.json_rows import TextOf
from tokpar_corpus.tokenizer_source import CorpusTokenizer


def template_of(tokenizer: CorpusTokenizer, choice: bool | str) -> tuple[TextOf, str]:
    """Returns a function from a list of messages to a text, and the sha256 of the template.

    `choice`: True for the tokenizer's own template, or a template as a string. Raises OptionError
    without transformers, or if the tokenizer has no template."""
    wrapper = _wrapper(tokenizer)
    template = wrapper.chat_template if choice is True else choice
    if not isinstance(template, str):
        raise OptionError(f"{tokenizer.adapter.name} has no chat template: pass one as a file")

    def text_of(messages: Any) -> str:
        if not isinstance(messages, list):
            raise ValueError(f"expected a list of messages, got a {type(messages).__name__}")
        try:
            text = wrapper.apply_chat_template(messages, chat_template=template, tokenize=False)
        except Exception as error:  # raised by jinja2 or by the template
            raise ValueError(f"the chat template refuses the messages ({error})") from None
        return str(text)

    return text_of, hashlib.sha256(template.encode()).hexdigest()


def _wrapper(tokenizer: CorpusTokenizer) -> Any:
    """Returns the tokenizer as an object of transformers. Raises OptionError."""
    source = tokenizer.source
    if hasattr(source, "apply_chat_template"):
        return source
    if not isinstance(source, (str, Path)) or not Path(source).is_dir():
        raise OptionError(
            "--chat-template needs a folder of a transformers tokenizer as --tokenizer, got "
            f"{tokenizer.adapter.name}"
        )
    try:
        transformers, _ = import_module("transformers"), import_module("jinja2")
    except ImportError as error:
        raise OptionError(
            f"--chat-template needs the packages transformers and jinja2 ({error}): "
            "pip install transformers jinja2"
        ) from None
    return transformers.AutoTokenizer.from_pretrained(str(source), trust_remote_code=False)
