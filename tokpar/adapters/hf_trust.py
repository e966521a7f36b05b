"""What the adapter of tokenizers below 1.0 knows about untrusted text (proofs/untrusted.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from tokenizers import AddedToken as EngineToken

from tokpar.adapters.hf_copy import private_copy
from tokpar.adapters.hf_look import AFFIXES, FLAGS, EngineTokens
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.contract.adapter import TrustParts
from tokpar.errors import OptionError
from tokpar.types import AddedToken

if TYPE_CHECKING:
    from tokpar.adapters.hf_v0 import HuggingFaceTokenizer

_NO_NORMALIZER = (None, {"type": "Sequence", "normalizers": []})
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def trust_parts_of(
    own: Any, load: Callable[[Any], HuggingFaceTokenizer], template_control: frozenset[str] | None
) -> TrustParts:
    """Returns the parts of `own`, the private copy of a tokenizer.

    `load`: returns the adapter of a copy with names. `template_control`: the control tokens that
    the tokenizer's chat template names, or None."""
    tokens = EngineTokens.of(own).tokens
    unknown = _unknown_token(own.model)
    default = template_control
    if default is None:
        default = frozenset(
            t.content for t in tokens if t.special or own.model.token_to_id(t.content) is None
        )
    skipped = {t.content for t in tokens if t.special and own.encode_special_tokens}
    return TrustParts(
        added_tokens=tokens,
        vocabulary=lambda: "".join(own.get_vocab(with_added_tokens=True)),
        default=default - skipped,
        why_refused=partial(_why_refused, own, {token.content: token for token in tokens}, skipped),
        given_ids=partial(_given_ids, own, unknown),
        with_names=lambda names: load(_with_names(own, names)),
    )


def template_control(
    wrapper: Any, templates: str | Mapping[str, str] | None = None
) -> frozenset[str] | None:
    """Returns the control tokens of a transformers tokenizer with a chat template: its special
    tokens, and those that `chat_control_tokens` names; without that list (new in transformers
    5.24) those that a literal of the template contains, but white space. None without a template.

    `templates`: instead of the tokenizer's own."""
    templates = templates or getattr(wrapper, "chat_template", None)
    if not templates:
        return None
    texts = [templates] if isinstance(templates, str) else templates.values()
    listed = getattr(wrapper, "chat_control_tokens", None)
    literals = "" if listed is not None else "\0".join(map(_literals_of, texts))
    return frozenset(
        token.content
        for token in wrapper.added_tokens_decoder.values()
        if token.special
        or token.content in (listed or ())
        or (token.content in literals and not token.content.isspace())
    )


@lru_cache(maxsize=32)
def _literals_of(template: str) -> str:
    from jinja2 import nodes  # transformers has it for its templates
    from transformers.utils import chat_template_utils

    # its environment knows the tags of chat templates
    tree = chat_template_utils._compile_jinja_template(template).environment.parse(template)
    constants = (each.value for each in tree.find_all(nodes.Const))
    texts = [each.data for each in tree.find_all(nodes.TemplateData)]
    return "\0".join([*texts, *(each for each in constants if isinstance(each, str))])


def _why_refused(
    own: Any, tokens: Mapping[str, AddedToken], skipped_contents: Collection[str], content: str
) -> str | None:
    if content not in tokens:
        return "the tokenizer has no such added token"
    if content in skipped_contents:
        return "the tokenizer never matches special tokens (encode_special_tokens)"
    if tokens[content].normalized and parse_component(own.normalizer) not in _NO_NORMALIZER:
        return "it is searched in the normalized text (normalized=True), which has other places"
    strips = any(token.lstrip or token.rstrip for token in tokens.values())
    if strips and content != content.strip():
        return "it begins or ends with white space, which other added tokens strip"
    return None


def _unknown_token(model: Any) -> str | None:
    """Returns the token that the model gives for what it does not know."""
    token: str | None = getattr(model, "unk_token", None)
    if type(model).__name__ == "Unigram":  # it has no attribute that tells
        id_ = json.loads(model.__getstate__())["unk_id"]
        token = None if id_ is None else model.id_to_token(id_)
    return token


def _given_ids(own: Any, unknown: str | None, control: Collection[str]) -> dict[int, str]:
    """Returns the ids of control tokens that the model may give for ordinary text.

    A BPE gives a token for some text only if it gives this token for the token's own text: no merge
    of the other text crosses the ends of the token, so the merges inside it are the same."""
    model = own.model
    ids = {own.token_to_id(content): content for content in control if content != unknown}
    known = own.get_vocab(with_added_tokens=False).items()
    is_bpe = type(model).__name__ == "BPE" and not any(getattr(model, a) for a in AFFIXES)
    return {
        id_: ids[id_]
        for token, id_ in known
        if id_ in ids and token != unknown and not (is_bpe and _never_merged(model, token, id_))
    }


def _never_merged(model: Any, token: str, id_: int) -> bool:
    if model.dropout or (model.byte_fallback and _BYTE.fullmatch(token)):
        return False
    return [each.id for each in model.tokenize(token)] != [id_]


def _with_names(own: Any, names: Mapping[str, str]) -> Any:
    """Returns a copy that steps over the contents of `names` and matches their names instead.

    Raises OptionError if the added tokens get other ids in a copy."""
    copy, _ = private_copy(own, without_tokens=True)
    added = own.get_added_tokens_decoder()
    for token in added.values():
        token.special = token.content in names or (token.special and own.encode_special_tokens)
    copy.add_tokens([added[id_] for id_ in sorted(added)])
    copy.add_tokens(
        [_token_of_name(added[own.token_to_id(each)], name) for each, name in names.items()]
    )
    found = copy.get_added_tokens_decoder()
    for id_, token in added.items():
        if id_ not in found or found[id_].content != token.content:
            raise OptionError(
                f"untrusted text needs a copy of the tokenizer, and no copy gives the added token "
                f"{token.content!r} its id {id_}"
            )
    for name in names.values():  # ids with a gap: the next id may be that of a token
        token = copy.model.id_to_token(copy.token_to_id(name))
        if token is not None:
            raise OptionError(
                "untrusted text needs a copy of the tokenizer with more tokens, and the engine "
                f"gives a new token the id of {token!r}"
            )
    copy.encode_special_tokens = True
    return copy


def _token_of_name(token: Any, name: str) -> EngineToken:
    flags = {flag: getattr(token, flag) for flag in FLAGS if flag != "special"}
    return EngineToken(name, special=False, **flags)
