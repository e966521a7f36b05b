"""Which characters of a rendered chat did the chat template write?

transformers' own rendering runs a second time. In it the template's constants are `MarkedText`, and
so are the special tokens and the contents of roles that the caller trusts. The text has to be that
of the first rendering. A character without a mark is not trusted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from inspect import BoundArguments
from types import FunctionType
from typing import Any

import regex
from transformers.utils import chat_template_utils

from tokpar.adapters.hf_trust import template_control
from tokpar.errors import OptionError
from tokpar.integrations.chat_template_marks import marking_template
from tokpar.integrations.marked_text import MarkedText, join_marked, mark_strings, marks_of
from tokpar.process.cached_property import cached_property
from tokpar.sessions.common_ends import common_prefix

_OPTIONS = (
    *("tools", "documents", "add_generation_prompt", "continue_final_message"),
    "return_assistant_tokens_mask",
)
"""Arguments of `apply_chat_template` that go to the rendering."""
_CANNOT_FOLLOW = "cannot tell which text this chat template writes itself"


class ChatText(str):
    """A rendered chat. `untrusted_spans`: the spans (start, stop), code points, that neither the
    template nor a trusted role wrote; in order, not touching each other."""

    __slots__ = ("untrusted_spans",)
    untrusted_spans: tuple[tuple[int, int], ...]

    def __new__(cls, text: MarkedText) -> ChatText:
        made = str.__new__(cls, str.__str__(text))
        made.untrusted_spans = tuple(m.span() for m in re.finditer(b"\0+", marks_of(text)))
        return made


@lru_cache(maxsize=32)
def _control_pattern(tokens: frozenset[str]) -> regex.Pattern[str]:
    """Matches the longest of the tokens that begins at a place."""
    longest_first = sorted(filter(None, tokens), key=len, reverse=True)
    pattern = "|".join(map(regex.escape, longest_first)) or "(?!)"
    return regex.compile(pattern, regex.VERSION0)


def require_whole(text: MarkedText, tokens: frozenset[str], data: Iterable[str]) -> None:
    """Raises OptionError for a control token in `text` if the template wrote only a part of it, or
    if the template wrote no character of it and no string of `data` holds it."""
    marks = marks_of(text)
    for match in _control_pattern(tokens).finditer(text, overlapped=True):
        token, start = match[0], match.start()
        token_marks = marks[start : start + len(token)]
        if all(token_marks):
            continue
        where = f"the control token {token!r} at {start} of the rendered chat"
        if any(token_marks):
            marked_length = token_marks.find(0)
            if any(token[:k] in tokens for k in range(1, marked_length + 1)):
                continue  # the template wrote a shorter control token before this text
            raise OptionError(
                f"{where} is partly written by the chat template and partly by text that is not "
                "trusted: change the text, or the template, or trust the role"
            )
        if not any(token in each for each in data):
            raise OptionError(
                f"{where} comes from no single string of the chat: the template makes it of parts, "
                "or in a step that tokpar cannot follow, so nobody can say whose it is"
            )


@dataclass(frozen=True)
class RenderedChats:
    """The arguments of one call of `apply_chat_template`.

    `untrusted_roles`: True, or the roles whose contents are not trusted. `options`: arguments for
    the rendering. `variables`: keywords for the template. `started_at`: when the plain rendering
    began."""

    tokenizer: Any
    conversation: Any
    template: str
    untrusted_roles: bool | frozenset[str]
    options: Mapping[str, Any]
    variables: Mapping[str, Any]
    started_at: datetime = field(default_factory=datetime.now)

    def texts(self, plain: Sequence[str]) -> list[ChatText]:
        """The rendered chats with their untrusted spans. `plain`: what transformers rendered.

        Raises OptionError if the second rendering has another text, and as `require_whole`."""
        second = self._render(self.started_at)
        if second.texts != plain:  # the template may have written the time
            second = self._render(datetime.now())
            if second.texts != plain:
                raise OptionError(second.difference(plain))
        for text in second.texts:
            require_whole(text, self.control_tokens, second.data)
        return list(map(ChatText, second.texts))

    @cached_property
    def control_tokens(self) -> frozenset[str]:
        """The added tokens that only trusted text may spell."""
        return template_control(self.tokenizer, self.template) or frozenset()

    def _render(self, moment: datetime) -> _Rendering:
        special = mark_strings(self.tokenizer.special_tokens_map, MarkedText.of_template)
        arguments = {**self.options, **special, **self.variables}
        return _Rendering(
            self.template, moment, {"conversations": self._conversations(), **arguments}
        )

    def _conversations(self) -> list[list[dict[str, Any]]]:
        """The messages as transformers normalizes them; what is trusted in them is marked."""
        first = self.conversation[0] if isinstance(self.conversation, (list, tuple)) else None
        is_batch = isinstance(first, (list, tuple)) or hasattr(first, "messages")
        chats = self.conversation if is_batch else [self.conversation]
        normalize = chat_template_utils._normalize_chat_messages
        return [[self._mark(each) for each in normalize(chat)] for chat in chats]

    def _mark(self, message: dict[str, Any]) -> dict[str, Any]:
        role = message.get("role")
        if not isinstance(role, str) or role not in marking_template(self.template).roles:
            return message
        marked = {**message, "role": MarkedText.of_template(role)}
        is_trusted = not isinstance(self.untrusted_roles, bool) and role not in self.untrusted_roles
        if is_trusted and "content" in message:
            marked["content"] = mark_strings(message["content"], MarkedText.of_template)
        return marked


def chats_of_call(tokenizer: Any, untrusted_roles: object, call: BoundArguments) -> RenderedChats:
    """What a call of `apply_chat_template`, with its defaults, renders.

    Raises OptionError for `untrusted_roles` that are neither True nor roles, for a role that the
    template does not know, and if transformers is to treat control tokens in its own way, too."""
    arguments = call.arguments
    if arguments["sanitize_control_tokens"]:
        raise OptionError("pass either untrusted or sanitize_control_tokens, not both")
    template = tokenizer.get_chat_template(arguments["chat_template"], arguments["tools"])
    options = {name: arguments[name] for name in _OPTIONS}
    roles = _require_roles(untrusted_roles, template)
    variables = arguments["kwargs"]
    return RenderedChats(tokenizer, arguments["conversation"], template, roles, options, variables)


def _require_roles(given_roles: Any, template: str) -> bool | frozenset[str]:
    if given_roles is True:
        return True
    is_set = isinstance(given_roles, (set, frozenset, list, tuple))
    if not is_set or not all(isinstance(role, str) for role in given_roles):
        raise OptionError(
            f"untrusted has to be True or a set of roles as {{'user', 'tool'}}, got {given_roles!r}"
        )
    roles, known_roles = frozenset(given_roles), marking_template(template).roles
    if not roles <= known_roles:
        raise OptionError(
            f"untrusted names {min(roles - known_roles)!r}, a role that the chat template does not "
            f"know; it knows {', '.join(sorted(known_roles))}. A message of another role is never "
            "trusted"
        )
    return roles


class _Rendering:
    """One rendering with marks: `texts`, and `data`, the strings that came from the caller.

    It runs `render_jinja_template` of transformers, as a function of its own that calls three
    other functions: nothing of transformers is changed. `strftime_now` tells `moment`."""

    def __init__(self, source: str, moment: datetime, arguments: Mapping[str, Any]) -> None:
        self._source, self._moment = source, moment
        self.data: list[str] = []
        names = dict(vars(chat_template_utils))
        self._plain_data = _copy_function("_plain_template_data", names)
        names["_plain_template_data"] = self._marked_data
        names["_compile_jinja_template"] = lambda _: self
        names["_render_with_assistant_indices"] = self._render_for_indices
        render_chats = _copy_function("render_jinja_template", names)
        try:
            texts, _ = render_chats(chat_template=source, **arguments)
        except Exception as error:  # of whatever kind: the plain rendering has raised none
            raise OptionError(f"{_CANNOT_FOLLOW}: {error}") from error
        self.texts = [each if isinstance(each, MarkedText) else MarkedText(each) for each in texts]

    def _marked_data(self, value: Any) -> Any:
        found = value if isinstance(value, MarkedText) else self._plain_data(value)
        if type(found) is not str:
            return found
        self.data.append(found)
        return MarkedText(found)

    def render(self, **variables: Any) -> MarkedText:
        """Stands for the method of the compiled template."""
        template = marking_template(self._source).jinja_template
        context = template.new_context({"strftime_now": self._moment.strftime, **variables})
        return join_marked(template.root_render_func(context))

    def _render_for_indices(
        self, compiled_template: object, **variables: Any
    ) -> tuple[MarkedText, list[object]]:
        return self.render(**variables), []

    def difference(self, plain: Sequence[str]) -> str:
        """Says where the text differs from that of the `plain` rendering."""
        text, expected = next(p for p in zip(self.texts, plain, strict=True) if p[0] != p[1])
        at = common_prefix(str.__str__(text), expected)
        return (
            f"{_CANNOT_FOLLOW}: at {at} it gives {text[at : at + 20]!r} and a moment before "
            f"{expected[at : at + 20]!r}"
        )


def _copy_function(name: str, names: dict[str, Any]) -> Callable[..., Any]:
    """A function of transformers that finds other functions by `names`."""
    own = getattr(chat_template_utils, name)
    return FunctionType(own.__code__, names, name, own.__defaults__)
