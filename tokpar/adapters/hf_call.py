"""What the compiled call of a Hugging Face tokenizer is made from."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import tokenizers

from tokpar.adapters.engine_batches import call_batch
from tokpar.adapters.hf_look import ReadModel, is_dense, written_model
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.adapters.hf_version import installed_release
from tokpar.arrays import IdArray
from tokpar.compiled.compiled_build import (
    LEAST_KEPT,
    NORMALIZED,
    RAW,
    UNMOVED,
    WHY,
    CallParts,
    added_flags,
    find_cut,
    without_cuts,
)
from tokpar.compiled.merges import GateError, Parts, Source, merges_of, model_parts, parts_of
from tokpar.compiled.quick_check import leaves_alone
from tokpar.errors import ChangedError
from tokpar.facts.hf_vocabulary import bytes_of_token
from tokpar.facts.space_stages import MARK
from tokpar.formats.json_parts import Json
from tokpar.formats.json_parts import stages as stages_of
from tokpar.formats.vocabulary import letters_of
from tokpar.process import kernel_modules
from tokpar.types import AddedToken, Facts

if TYPE_CHECKING:
    from tokpar.compiled.call_tables import Arrays
    from tokpar.compiled.segment_engine import SegmentEngine

_PRINTS_HOLES = installed_release() < (0, 23)
"""The engine prints each missing id to the standard output when it writes a model."""
_SETTINGS = "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"
MODELS = "BPE", "WordPiece", "WordLevel"
"""Models that the compiled call reads from their file. The engine gives the words of others."""
_DRAWN_TOKENS = 300
FEW = 8
"""Texts that are encoded sooner one by one than by the engine's threads."""


def call_parts_of(
    copy: Any,
    facts: Facts,
    read: ReadModel | None,
    special: tuple[Sequence[int], Sequence[int]] | None,
    is_same_model: Callable[[], bool],
    file_bytes: bytes | None = None,
) -> CallParts | str:
    """Returns what the compiled call is made from; or why the tokenizer has none.

    `copy`: the private copy. `read`: what was read of its model. `special`: the ids around a
    text, if that is all of post-processing. `is_same_model`: returns False once somebody changed
    the model. `file_bytes`: the file that the tokenizer was read from, which spares the engine to
    write its model."""
    has_sections = facts.model == "Unigram" and facts.added_token_cuts_refused is None
    if facts.unprovable is not None and not has_sections:
        return facts.unprovable
    stages = [_normalizer_of(copy), parse_component(copy.pre_tokenizer)]
    is_plain = facts.model in MODELS and not facts.byte_level and not _is_marked(facts, stages)
    replaces = facts.model == "BPE" and not facts.byte_level and not is_plain
    has_words_as_written = is_plain or stages == [None, None]
    added_tokens = _contents_of(facts, copy.normalizer if stages[0] else None, replaces)
    if isinstance(added_tokens, str):
        return added_tokens
    if is_plain and stages[0] and any(each[2] for each in added_tokens.values()):
        return "an added token is searched in the normalized text"

    engine = partial(_segment_engine, copy, is_same_model, facts)
    by_file, source = _tables_by_file(copy, facts, stages, read, file_bytes)
    unigram = None
    if has_sections and not (stages[0] and any(each[2] for each in added_tokens.values())):
        unigram = partial(_unigram_tables, copy, facts, stages)
    refused = None if not isinstance(by_file, str) else _refused(facts, engine)
    if refused is not None and not (unigram and _has_unigram_stages(stages)):
        return facts.unprovable or f"{by_file}; and {refused}"
    return CallParts(
        identity=_identity_of(stages, source),
        make_arrays=partial(_make_arrays, by_file, engine, unigram),
        engine=engine,
        added_tokens=added_tokens,
        special=special,
        tokens=partial(_some_tokens, copy, facts.byte_level),
        encode_many=partial(_encode_many, copy, is_same_model),
        tokenize=partial(
            _pieces if has_words_as_written or unigram else _tokenize,
            *(copy, replaces, is_same_model),
        ),
        find_cut=partial(find_cut, facts),
        # a model with words in its cache panics where it encodes after a training
        forget=getattr(copy.model, "_clear_cache", int),
    )


def _normalizer_of(copy: Any) -> Json | None:
    """Returns the normalizer as ``tokenizer.json`` writes it; None for a Sequence of none, too."""
    written = parse_component(copy.normalizer)
    return written if any(stages_of(written, "normalizer", "normalizers")) else None


def _tables_by_file(
    copy: Any, facts: Facts, stages: Sequence[Any], read: ReadModel | None, file_bytes: bytes | None
) -> tuple[Callable[[], Arrays] | str, Source | None]:
    """Returns what makes the tables from the file of the model, or why nothing does; and the digest
    that names the tables, or None."""
    try:
        if facts.model not in MODELS:
            raise GateError(f"its model is {facts.model}, not BPE, WordPiece or WordLevel")
        written, parts, source = _written_model(copy, facts, stages, read, file_bytes)
    except GateError as error:
        known = None if read is None else read.source
        return str(error), Source.of(file_bytes) if known is None and file_bytes else known

    return partial(_arrays_of, copy, facts, stages, written, parts), source


def _arrays_of(
    copy: Any, facts: Facts, stages: Sequence[Any], written: bytes, parts: Parts
) -> Arrays:
    """Returns the tables of a model; `written`, `parts`: see `_written_model`. Raises GateError."""
    from tokpar.compiled import character_tables, word_tables  # only where tables are made
    from tokpar.compiled.call_tables import byte_arrays
    from tokpar.compiled.wordpiece_tables import is_bert, wordpiece_arrays

    size = copy.get_vocab_size(with_added_tokens=False)
    if facts.byte_level:
        return byte_arrays(facts, merges_of(written, size, parts=parts))
    if facts.model == "WordLevel":
        return word_tables.level_arrays(_vocabulary_model(copy.model, size, written), *stages)
    if facts.model == "WordPiece":
        model = _vocabulary_model(copy.model, size, written)
        make_pieces = wordpiece_arrays if is_bert(*stages) else word_tables.piece_arrays
        return make_pieces(model, size, *stages)
    if _is_marked(facts, stages):
        return character_tables.character_arrays(written, parts, size, *stages)
    return word_tables.bpe_arrays(written, parts, size, *stages)


def _refused(facts: Facts, engine: Callable[[], SegmentEngine]) -> str | None:
    """Returns why the engine may not be asked for segments, or None as far as one look tells."""
    if facts.unprovable is None and facts.scheme in ("regex", "bert"):  # those look at patterns
        return None
    try:
        engine()
    except GateError as error:
        return str(error)
    return None


def _has_unigram_stages(stages: Sequence[Any]) -> bool:
    from tokpar.compiled.unigram_tables import unigram_stages  # few tokenizers need it

    try:
        unigram_stages(*stages)
    except GateError:
        return False
    return True


def _unigram_tables(
    copy: Any, facts: Facts, stages: Sequence[Any], engine: Callable[[], SegmentEngine]
) -> Arrays:
    """Returns the tables of a Unigram. Raises GateError if the call has not all of its stages."""
    from tokpar.compiled.segment_tables import arrays_without_words, segment_arrays
    from tokpar.compiled.unigram_tables import unigram_arrays, unigram_stages

    unigram_stages(*stages)  # to write a model takes long
    own = unigram_arrays(written_model(copy.model), *stages)
    try:
        asked = engine()
    except GateError:  # the text is one segment
        return without_cuts(arrays_without_words(int(facts.first_prefix)) | own)
    return segment_arrays(asked) | own


def _make_arrays(
    by_file: Callable[[], Arrays] | str,
    engine: Callable[[], SegmentEngine],
    unigram: Callable[[Callable[[], SegmentEngine]], Arrays] | None,
) -> Arrays:
    """Returns the tables of the model, or else those with which the engine is asked for segments.
    Raises GateError."""
    try:
        if not isinstance(by_file, str):
            return by_file()
        if unigram is not None:
            return unigram(engine)
        why = by_file
    except GateError as error:
        why = str(error)
    from tokpar.compiled.segment_tables import segment_arrays  # only where tables are made

    try:
        return segment_arrays(engine()) | {WHY: np.frombuffer(why.encode(), dtype=np.uint8)}
    except GateError as error:
        raise GateError(f"{why}; and {error}") from None


def _is_marked(facts: Facts, stages: Sequence[Any]) -> bool:
    if facts.model != "BPE" or facts.byte_level:
        return False
    from tokpar.compiled.character_tables import is_marked  # only where it is used

    return is_marked(*stages)


def _segment_engine(copy: Any, is_same_model: Callable[[], bool], facts: Facts) -> SegmentEngine:
    from tokpar.compiled.segment_engine import segment_engine  # only where it is asked

    return segment_engine(copy, call_batch, is_same_model, facts)


def _greatest_id(copy: Any) -> int:
    return max(copy.get_vocab(with_added_tokens=False).values(), default=0)


def _written_model(
    copy: Any, facts: Facts, stages: Sequence[Any], read: ReadModel | None, file_bytes: bytes | None
) -> tuple[bytes, Parts, Source | None]:
    """Returns the bytes from which the tables are made, the file or the model as JSON; the parts of
    the model in them; and the digest that names the tables, or None. Raises GateError."""
    if kernel_modules.VOCABULARY is None:
        raise GateError("nothing reads its vocabulary without the kernel")
    if facts.model != "WordPiece" and not facts.byte_level and not _is_marked(facts, stages):
        from tokpar.compiled.pair_tables import require_pairs  # only where it is used

        require_pairs(*stages)  # to write a model takes long
    source = None if read is None else read.source
    if file_bytes is not None:
        parts = model_parts(file_bytes) if read is None or read.parts is None else read.parts
        source = Source.of(file_bytes) if source is None else source
        if parts is not None:
            return file_bytes, parts, source
        return _with_parts(written_model(copy.model), source)
    if read is not None and read.state is not None:
        return _with_parts(read.state, source)
    size = copy.get_vocab_size(with_added_tokens=False)
    if is_dense(copy.model, size):
        state = written_model(copy.model)
        return _with_parts(state, Source.of(state))
    # the engine writes a model in time and memory for every id below its greatest
    cannot_write = _PRINTS_HOLES or not facts.byte_level
    if cannot_write or _greatest_id(copy) > max(4 * size, 1 << 20):
        raise GateError("its ids have holes")
    return _with_parts(written_model(copy.model), None)


def _with_parts(state: bytes, source: Source | None) -> tuple[bytes, Parts, Source | None]:
    return state, parts_of(state, kernel_modules.VOCABULARY), source


def _identity_of(stages: Sequence[Any], source: Source | None) -> list[bytes | str] | None:
    if source is None or source.length < LEAST_KEPT:
        return None
    return [json.dumps(stages), source.sha256, f"tokenizers {tokenizers.__version__}"]


def _vocabulary_model(model: Any, size: int, written: bytes) -> dict[str, Any]:
    """Returns a WordPiece or WordLevel as a `tokenizer.json` has it.

    Other threads run between two tokens; nothing runs beside a parser of JSON."""
    names = (model.id_to_token(id_) for id_ in range(size))
    vocab = {name: id_ for id_, name in enumerate(names) if name is not None}
    if len(vocab) < size:
        parsed: dict[str, Any] = json.loads(written)
        return dict(parsed.get("model", parsed))
    settings = (name for name in _SETTINGS if hasattr(model, name))
    return {"vocab": vocab} | {name: getattr(model, name) for name in settings}


def _contents_of(
    facts: Facts, normalizer: Any, replaces: bool
) -> dict[str, tuple[int, int, int]] | str:
    """Returns added tokens as `call_of` takes them, in the form in which they are searched.

    Facts leave out the special tokens that the engine skips (`encode_special_tokens`): the facts of
    a tokenizer where one of them hides another token are `unprovable`. A sentence if the
    normalizer makes two tokens alike, or leaves nothing of one: the engine then finds it
    everywhere."""
    found: dict[str, tuple[int, int, int]] = {}
    for each in facts.added_tokens:
        content = each.content
        if each.normalized and normalizer is not None:
            content = normalizer.normalize_str(content)
            content = content.replace(MARK, " ") if replaces else content
        if not content:
            return f"its normalizer leaves nothing of the added token {each.content[:100]!r}"
        if content in found:
            return f"two of its added tokens are searched as {content[:100]!r}"
        found[content] = each.id, added_flags(each), _place_of_search(each, normalizer, facts)
    return found


def _place_of_search(token: AddedToken, normalizer: Any, facts: Facts) -> int:
    """Returns `RAW`, `NORMALIZED` or `UNMOVED`."""
    if not token.normalized:
        return RAW
    if normalizer is None:
        return UNMOVED
    kinds = tuple(stage.kind for stage in facts.normalizers)
    # what a flag looks at, beside the token, the normalizer may change
    is_unmoved = leaves_alone(kinds, token.content) and not added_flags(token)
    return UNMOVED if is_unmoved else NORMALIZED


def _some_tokens(copy: Any, byte_level: bool) -> list[str]:
    """Returns some tokens of the vocabulary as text."""
    size = copy.get_vocab_size(with_added_tokens=False)
    draw, count = random.Random(size), min(size // 10, _DRAWN_TOKENS)
    names = (copy.model.id_to_token(draw.randrange(size)) for _ in range(count))
    known = [name for name in names if name]
    if not byte_level:
        prefix = getattr(copy.model, "continuing_subword_prefix", None) or ""
        return [name.removeprefix(prefix).replace(MARK, " ") for name in known]
    spelled = (bytes_of_token(name) for name in known)
    return [each.decode(errors="ignore") for each in spelled if each]


def _encode_many(
    copy: Any, is_same_model: Callable[[], bool], texts: Sequence[str]
) -> list[IdArray]:
    """Returns the engine's ids of texts without special tokens. Raises ChangedError."""
    if not is_same_model():
        raise ChangedError("the tokenizer was changed after this Encoder was made: make a new one")
    if len(texts) <= FEW:
        found = [copy.encode(text, add_special_tokens=False) for text in texts]
    else:
        found = call_batch(copy.encode_batch_fast, texts, add_special_tokens=False)
    return [np.array(encoding.ids, dtype=np.uint32) for encoding in found]


def _pieces(copy: Any, _: bool, is_same_model: Callable[[], bool], word: bytes) -> list[int] | None:
    """Returns what `_tokenize` returns, of a word before the normalizer."""
    if not is_same_model():
        return None
    text = word.decode()
    if copy.normalizer is not None:
        text = copy.normalizer.normalize_str(text)
    if copy.pre_tokenizer is None:
        return [token.id for token in copy.model.tokenize(text)]
    pieces = copy.pre_tokenizer.pre_tokenize_str(text)
    return [token.id for piece, _ in pieces for token in copy.model.tokenize(piece)]


def _tokenize(
    copy: Any, replaces: bool, is_same_model: Callable[[], bool], word: bytes
) -> list[int] | None:
    """Returns the model's ids of one word, or None once somebody changed the model."""
    if not is_same_model():
        return None
    text = word.decode().replace(" ", MARK) if replaces else letters_of(word)
    return [token.id for token in copy.model.tokenize(text)]
