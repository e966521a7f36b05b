"""Compiles a chat template such that it marks the characters that it writes itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, cast

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.filters import do_join
from jinja2.sandbox import ImmutableSandboxedEnvironment
from transformers.utils import chat_template_utils

from tokpar.integrations.marked_text import MarkedText, join_marked

KNOWN_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
"""Roles that no template needs to name."""


class _MarkingCode(CodeGenerator):
    """Writes the code of a template such that its constants are marked."""

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802
        if isinstance(node.value, str):
            self.write(f"environment.mark({node.value!r})")
        else:
            super().visit_Const(node, frame)

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.mark({''.join(group)!r})"

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super().visit_Concat(node, frame)
            return
        self.write("environment.concat(map(str, (")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write(")))")


class _MarkingEnvironment(ImmutableSandboxedEnvironment):
    """transformers' environment of a template, with marks."""

    code_generator_class = _MarkingCode
    concat = staticmethod(join_marked)
    mark = staticmethod(MarkedText.of_template)


class MarkingTemplate(NamedTuple):
    """A chat template whose rendering is `MarkedText`."""

    jinja_template: jinja2.Template
    roles: frozenset[str]
    """Roles that a message may have to be trusted: those that any template knows, and the string
    constants that this one compares with a role."""


@lru_cache(maxsize=32)
def marking_template(source: str) -> MarkingTemplate:
    """The template, compiled with marks. Its code has no state: threads share it."""
    own = chat_template_utils._compile_jinja_template(source).environment
    environment = own.overlay()
    environment.__class__ = _MarkingEnvironment  # overlay makes the class of `own`
    environment.optimized = False  # folded constants are no longer str
    environment.filters = {**own.filters, "join": _join_filter}
    tree = environment.parse(source)
    comparisons = list(filter(_reads_role, tree.find_all(nodes.Compare)))
    roles = {text for each in comparisons for text in _strings_in(each)} - {"role"}
    jinja_template = environment.from_string(source)
    return MarkingTemplate(jinja_template, KNOWN_ROLES | roles)


def _strings_in(node: nodes.Node) -> Iterator[str]:
    return (each.value for each in node.find_all(nodes.Const) if isinstance(each.value, str))


def _reads_role(comparison: nodes.Compare) -> bool:
    return (
        any(each.attr == "role" for each in comparison.find_all(nodes.Getattr))
        or any(each.name == "role" for each in comparison.find_all(nodes.Name))
        or "role" in _strings_in(comparison)
    )


@jinja2.pass_eval_context
def _join_filter(
    context: nodes.EvalContext, value: Any, d: str = "", attribute: str | int | None = None
) -> str:
    if type(d) is str and not context.autoescape:
        d = MarkedText(d)
    return cast(str, do_join(context, value, d, attribute))
