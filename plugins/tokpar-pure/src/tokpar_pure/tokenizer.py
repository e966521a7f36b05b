"""A whole tokenizer in plain Python: added tokens, normalizer, pre-tokenizer, model, decoder.

    text --added tokens (raw)--> segments --normalizer--> --added tokens (normalized)-->
         --pre-tokenizer--> pieces --model--> ids --post-process--> ids of the whole text

`read_tokenizer` builds the tokenizer of a parsed ``tokenizer.json``. Its ids equal those of Hugging
Face's `tokenizers` 0.23. It refuses a file with a part that it cannot follow exactly.
`tokenizer_of` builds the tokenizer of a byte-level `Vocabulary`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokpar.formats.vocabulary import Vocabulary
from tokpar.plugin.tokenizer import letters_of
from tokpar_pure.added_tokens import AddedTokens
from tokpar_pure.bpe import RankBPE
from tokpar_pure.decoders import Decoder, read_decoder
from tokpar_pure.formats import read_added
from tokpar_pure.merging import Span
from tokpar_pure.model import EncodesAll, read_model
from tokpar_pure.normalizers import Normalizer, read_normalizer
from tokpar_pure.pairs import PairBPE, PairSettings
from tokpar_pure.patterns import Engine
from tokpar_pure.pretokenize import PreTokenizer, Stages, is_byte_level, read_pre_tokenizer
from tokpar_pure.traced_text import TracedText


@dataclass(frozen=True)
class Tokenizer:
    """The stages of a tokenizer, in the order in which they run. Safe to share between threads.

    `added`: searches the text before the normalizer, and again after it.
    `spelling`: id -> token, as `decoder` takes it."""

    added: AddedTokens
    normalizer: Normalizer | None
    pre_tokenizer: Stages
    model: EncodesAll
    spelling: Mapping[int, str]
    decoder: Decoder

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a text, without post-processing."""
        ids: list[int] = []
        for part in self.parts(text):
            if isinstance(part, int):
                ids.append(part)
            else:
                ids += self.model.encode_all(part)
        return ids

    def parts(self, text: str) -> Iterator[int | Sequence[str]]:
        """Yields the ids of added tokens, and lists of the pre-tokens between them:
        "a b<s>" -> ["a", " b"], 1."""
        stages = self.pre_tokenizer
        if stages.needs_origin:
            for traced, id_ in self._trace_segments(text):
                yield [p.text for p in stages.trace(traced)] if id_ is None else id_
            return
        for segment in self.added.segments(text, self.normalizer):
            yield segment if isinstance(segment, int) else stages.split(segment)

    def spans(self, text: str) -> list[Span]:
        """Returns (id, start, stop) of each token, in code points of `text`, as Hugging Face does.
        Spans have whole characters: several tokens of one character all have its span."""
        found: list[Span] = []
        for segment, id_ in self._trace_segments(text):
            if id_ is not None:
                found.append((id_, *segment.span(0, len(segment.text))))
                continue
            for piece in self.pre_tokenizer.trace(segment):
                spans = self.model.spans(piece.text)
                found += [(token, *piece.span(start, stop)) for token, start, stop in spans]
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of `ids`, with added tokens. Raises LookupError for an id that is no
        token."""
        try:
            return self.decoder([self.spelling[id_] for id_ in ids])
        except KeyError as error:
            raise LookupError(f"there is no token with id {error}") from None

    def _trace_segments(self, text: str) -> Iterator[tuple[TracedText, int | None]]:
        """Yields normalized segments with None, and added tokens with their id. Each has the origin
        of its characters in `text`."""
        whole = TracedText(text, range(len(text)))
        for start, stop, id_ in self.added.raw(text):
            segment = whole.part(start, stop)
            if id_ is not None:
                yield segment, id_
                continue
            if self.normalizer is not None:
                changed = self.normalizer(segment.text)
                segment = segment.with_text(changed, self.normalizer.trace(segment.text))
            for left, right, inner in self.added.normalized(segment.text):
                yield segment.part(left, right), inner


def tokenizer_of(vocabulary: Vocabulary, model: EncodesAll | None = None) -> Tokenizer:
    """Returns the tokenizer of a byte-level vocabulary. `model`: used instead of its own BPE.

    The tokenizer has no `spelling`, so it cannot decode: use the bytes of `vocabulary.tokens`."""
    engine: Engine = "fancy-regex" if vocabulary.semantics == "ranks" else "oniguruma"
    pre_tokenizer = PreTokenizer(vocabulary.patterns, engine, vocabulary.keep_gaps)
    model = exact_model(vocabulary) if model is None else model
    return Tokenizer(AddedTokens(vocabulary.added), None, pre_tokenizer, model, {}, "".join)


def exact_model(vocabulary: Vocabulary) -> EncodesAll:
    """Returns the BPE model that a vocabulary belongs to."""
    if vocabulary.semantics == "ranks":
        return RankBPE(vocabulary.tokens)
    shown = {letters_of(token): id_ for token, id_ in vocabulary.tokens.items()}
    settings = PairSettings(byte_level=True, ignore_merges=vocabulary.whole_piece)
    return PairBPE(shown, vocabulary.merges, settings)


def read_tokenizer(config: Mapping[str, Any]) -> Tokenizer:
    """Returns the tokenizer that a parsed ``tokenizer.json`` describes. Raises FileFormatError that
    names a part that is not supported, without the path of the file."""
    normalizer = read_normalizer(config.get("normalizer"))
    before_model = config.get("pre_tokenizer")
    pre_tokenizer = read_pre_tokenizer(before_model)
    model = read_model(config["model"], is_byte_level(before_model))
    vocab: Mapping[str, int] = config["model"]["vocab"]
    added = read_added(config, vocab)
    spelled = {  # decoders get normalized added tokens in their normalized spelling
        token.id: normalizer(token.content) if normalizer and token.normalized else token.content
        for token in added
    }
    spelling = {id_: token for token, id_ in vocab.items()} | spelled
    decoder = read_decoder(config.get("decoder"))
    found = AddedTokens(added, normalizer)
    return Tokenizer(found, normalizer, pre_tokenizer, model, spelling, decoder)
