"""Chat templates that use what published ones use, in our own words, and drawn chats."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.model_files import CHATML, GEMMA, LLAMA_3

THINKING = """\
{%- set ns = namespace(last=-1) %}
{%- for m in messages[::-1] %}
{%- if ns.last < 0 and m.role == 'user' and not (m.content is string
  and m.content.startswith('<tool_response>') and m.content.endswith('</tool_response>')) %}
{%- set ns.last = messages|length - loop.index %}
{%- endif %}{% endfor %}
{%- for m in messages %}
{%- set text = m.content if m.content is string else '' %}
{%- if m.role == 'assistant' %}
{%- set thought = m.reasoning_content if m.reasoning_content is string else '' %}
{%- if not thought and '</think>' in text %}
{%- set thought = text.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
{%- set text = text.split('</think>')[-1].lstrip('\\n') %}
{%- endif %}
{{- '<|im_start|>' + m.role + '\\n' }}
{%- if loop.index0 > ns.last %}
{{- '<think>\\n' ~ thought.strip('\\n') ~ '\\n</think>\\n\\n' }}{% endif %}
{{- text + '<|im_end|>\\n' }}
{%- elif m.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + text + '\\n</tool_response><|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' ~ m.role ~ '\\n' ~ text ~ '<|im_end|>\\n' }}
{%- endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}
{%- if enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}"""
INST = """\
{{- bos_token }}
{%- for m in messages %}
{%- if m.role in ['user', 'system'] %}{{ '[INST] ' + m.content|trim + ' [/INST]' }}
{%- elif m.role == 'assistant' %}{{ ' ' + m['content']|trim + eos_token }}
{%- else %}{{ '[TOOL_RESULTS] ' ~ m.content|tojson ~ '[/TOOL_RESULTS]' }}{% endif %}
{%- endfor %}"""
TOOLS = """\
{%- macro shown(value, depth=0) %}
{%- if value is mapping %}{% for key, item in value|dictsort %}
{{- '  ' * depth ~ key|upper ~ ': ' }}{{ shown(item, depth + 1) }}{% endfor %}
{%- elif value is string %}{{ value|replace('<|', '< |')|trim }}{{ '\\n' }}
{%- else %}{{ value|tojson|safe }}{{ '\\n' }}{% endif %}
{%- endmacro %}
{%- macro turn(role) %}{{ ['<|im_start|>', role, '\\n']|join }}{{ caller() }}<|im_end|>
{% endmacro %}
{%- if tools %}{% call turn('system') %}<tools>
{% for tool in tools %}{{ tool|tojson }}
{{ shown(tool.function) }}{% endfor %}</tools>{% endcall %}{% endif %}
{%- for d in documents or [] %}
{%- call turn('document') %}{{ d.values()|join('\\n') }}{% endcall %}{% endfor %}
{%- for m in messages %}
{%- set body %}
{%- if m.content is string %}{{ m.content }}
{%- elif m.content %}
{{- m.content|selectattr('type', 'equalto', 'text')|map(attribute='text')|join('') }}{% endif %}
{%- for call in m.tool_calls or [] %}
{%- if loop.index > 8 %}{% break %}{% endif %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments|tojson }}}
</tool_call>{% endfor %}
{%- endset %}
{%- call turn(m.role) %}{% generation %}{{ body }}{% endgeneration %}{% endcall %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
ROLE_TOKENS = """\
{%- for m in messages %}{{ '<|' ~ m['role'] ~ '|>' ~ m['content'] ~ '<|end|>' }}{% endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""

TEMPLATES = {
    "ChatML": CHATML,
    "Llama 3": LLAMA_3,
    "Gemma": GEMMA,
    "thinking": THINKING,
    "INST": INST,
    "tools": TOOLS,
    "roles in tokens": ROLE_TOKENS,
}

LOGIC = ("<think>", "</think>", "<tool_response>", "</tool_response>", "\n", " ")
"""What templates look for in contents."""
PIECES = (
    *("<|im_start|>", "<|im_end|>", "<|im_", "end|>", "<|eot_id|>", "<|start_header_id|>", "</s>"),
    *("<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<|end|>", "<tool_call>", "<", "|>"),
    *("{{ bos_token }}", "{% generation %}", "{#", "%s", "{}", "{0}", "user", "assistant", "é"),
)


def contents() -> st.SearchStrategy[str]:
    pieces = st.sampled_from(LOGIC) | st.sampled_from(PIECES) | st.text("ab", max_size=3)
    return st.lists(pieces, max_size=8).map("".join)


def chats() -> st.SearchStrategy[list[dict[str, Any]]]:
    """User and assistant take turns; the contents hold control tokens and parts of them."""
    roles = ("user", "assistant")
    return st.lists(contents(), min_size=1, max_size=4).map(
        lambda said: [{"role": roles[k % 2], "content": text} for k, text in enumerate(said)]
    )


def shadow(text: str) -> str:
    """`text` with a private character in the place of each that no template looks for."""
    at, made = 0, []
    while at < len(text):
        logic = next((each for each in LOGIC if text.startswith(each, at)), "")
        made.append(logic or chr(0xF0000 + ord(text[at])))
        at += len(logic) or 1
    return "".join(made)


def is_shadow(character: str) -> bool:
    return ord(character) >= 0xF0000


def without_shadow(text: str) -> str:
    return "".join(chr(ord(c) - 0xF0000) if is_shadow(c) else c for c in text)
