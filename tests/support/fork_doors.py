"""The parts of tokpar that a forked child uses beside busy threads of its parent, see
`forked_children`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import tiktoken
from tokenizers import Tokenizer

import tokpar
from tests.support.forked_children import Door
from tests.support.paths import ROOT, VOCAB

README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = [README[:300], README[300:2600], README * 2, "wort\u0301 <|im_end|> 日本語\n" * 9, ""]
BATCH = [README[k : k + 40 + 7 * k] for k in range(24)]
FILES = {
    "compiled": VOCAB / "deepseek_part.json",
    "segments": VOCAB / "metaspace_unigram.json",
    "words": VOCAB / "bert_part.json",
}


def plain(value: Any) -> Any:
    """A value of a result in a form that can be compared."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def fields(result: Any, *left_out: str) -> dict[str, Any]:
    """All public attributes of a result that are no methods, and LookupError where one has none."""
    found: dict[str, Any] = {}
    for name in {*dir(type(result)), *getattr(result, "__dict__", ())}:
        if name.startswith("_") or name in left_out:
            continue
        if callable(getattr(type(result), name, None)):
            continue
        try:
            found[name] = plain(getattr(result, name))
        except LookupError:
            found[name] = LookupError
    return found


def own_ids(own: Tokenizer, text: str) -> list[int]:
    """By the call for one text, which needs no thread of the engine."""
    found: list[int] = own.encode(text).ids
    return found


def with_dead_pool(own: Tokenizer) -> Tokenizer:
    """The tokenizer, after its engine has started its threads, which a child lacks."""
    own.encode_batch(BATCH)
    return own


def of_file(name: str) -> Tokenizer:
    own = Tokenizer.from_file(str(FILES[name]))
    own.no_padding()  # the own call of one text hangs in a child if it truncates and pads
    return with_dead_pool(own)


ENCODING_FIELDS = ("origin", "report", "seams")


def encode(name: str, prepares: bool = True, **options: Any) -> Door:
    """`Encoder.encode` and `encode_batch`, and each field of their results."""
    own = of_file(name)
    encoder = tokpar.Encoder(own, **options)
    if prepares:
        encoder.prepare()
    expected = [own_ids(own, text) for text in TEXTS]
    batch = [own_ids(own, text) for text in BATCH]

    def check() -> None:
        for text, ids in zip(TEXTS, expected, strict=True):
            found = encoder.encode(text)
            assert found.ids.tolist() == ids
            assert fields(found, *ENCODING_FIELDS)["lossless"]
            assert all(seam.rule for seam in found.seams)
        rows = encoder.encode_batch(BATCH)
        assert [row.ids.tolist() for row in rows] == batch
        assert len(rows.padded(0)[0]) == len(BATCH)
        assert [fields(row, *ENCODING_FIELDS)["ids"] for row in rows] == batch
        assert [row.ids.tolist() for row in encoder.encode_iter(BATCH)] == batch

    return Door(check)


def streams() -> Door:
    own = of_file("compiled")
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    ids = own_ids(own, README)

    def check() -> None:
        chunks = [README[k : k + 97] for k in range(0, len(README), 97)]
        assert np.concatenate([*encoder.stream(chunks)]).tolist() == ids
        assert encoder.decode(ids) == own.decode(ids, skip_special_tokens=False)
        stream = encoder.decode_stream()
        said = "".join(stream.step(id_) for id_ in ids[:400]) + stream.finish()
        assert said == own.decode(ids[:400], skip_special_tokens=False)
        for chunk in itertools.islice(encoder.chunks(README, 64, 8, "sentence"), 9):
            assert own_ids(own, README[chunk.start : chunk.stop]) == chunk.ids.tolist()

    return Door(check)


def sessions() -> Door:
    """A session that threads edit: the child's text and ids belong together."""
    own = of_file("compiled")
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    session = encoder.session(README[:600])

    def edit() -> None:
        start = random.randrange(500)
        session.replace(start, start + 9, README[start + 50 : start + 59])
        session.update(session.text[:595] + "12 !")
        assert len(session.ids), len(session.char_spans)

    def check() -> None:
        ids = own_ids(own, session.text)
        assert session.unprocessed_ids.tolist() == ids
        assert fields(session)["ids"] == ids
        twin = encoder.session_from_bytes(session.to_bytes())
        assert twin.ids.tolist() == ids
        patch = session.append(" and more")
        known = ids[: patch.replace_from]
        assert [*known, *patch.replacement_ids.tolist()] == own_ids(own, session.text)
        session.truncate(len(session) - 9)

    return Door(check, edit)


def trusted_sessions() -> Door:
    own = of_file("compiled")
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    session = encoder.trusted_session("A prompt. ")

    def edit() -> None:
        session.append("<｜User｜> words ")
        session.append(" of <｜User｜> a user", trusted=False)
        if len(session) > 900:
            session.truncate(300)

    def check() -> None:
        for _ in range(2):
            text, spans = session.text, session.untrusted
            expected = encoder.encode(text, untrusted=spans).ids.tolist()
            assert session.ids.tolist() == expected == fields(session)["ids"]
            edit()

    return Door(check, edit)


def functions() -> Door:
    """The functions of the package, which keep encoders, for names of tokenizers."""
    # the own call of one text hangs in a child if the tokenizer truncates and pads, as "words" does
    paths = [FILES["compiled"], FILES["segments"]]
    owns = [Tokenizer.from_file(str(path)) for path in paths]
    expected = [own_ids(own, README[:900]) for own in map(with_dead_pool, owns)]

    def check() -> None:
        assert tokpar.count("Hello world") == 2
        for path, own, ids in zip(paths, owns, expected, strict=True):
            assert tokpar.encode(README[:900], str(path)).ids.tolist() == ids
            assert tokpar.encode(README[:900], own).ids.tolist() == ids
        names = {record.name for record in tokpar.strategies()}
        assert {"auto", "serial"} <= names
        assert tokpar.plugins()[0].problem is None
        with suppress(tokpar.UnknownNameError):
            tokpar.load("no-such-tokenizer")

    return Door(check)


def background() -> Door:
    """Each child is forked while the tables of another tokenizer are made."""
    config = FILES["compiled"].read_text(encoding="utf-8")
    made: list[tuple[Tokenizer, Any]] = []
    count = itertools.count()

    def make() -> None:
        own = with_dead_pool(Tokenizer.from_str(config))
        own.add_tokens([f"wort{next(count)}"])
        made.append((own, tokpar.Encoder(own)))
        del made[:-4]

    def check() -> None:
        own, encoder = made[-1]
        for text in (README, README[:80]):
            found = encoder.encode(text)
            assert found.ids.tolist() == own_ids(own, text)
            encoder.prepare()
        assert [row.ids.tolist() for row in encoder.encode_batch(BATCH)] == [
            own_ids(own, text) for text in BATCH
        ]

    make()
    return Door(check, partial(tokpar.Encoder(made[0][0]).encode, README), make)


def tiktoken_views() -> Door:
    from tests.support.tiktoken_parts import encoding

    own: tiktoken.Encoding = encoding()
    view = tokpar.as_tiktoken(own)
    expected = [own.encode(text, disallowed_special=()) for text in TEXTS]

    def check() -> None:
        for text, ids in zip(TEXTS, expected, strict=True):
            assert view.encode(text, disallowed_special=()) == ids
        assert view.encode_ordinary_batch(TEXTS) == [*map(own.encode_ordinary, TEXTS)]
        assert view.decode(expected[2]) == TEXTS[2]
        assert view.special_tokens_set == own.special_tokens_set
        assert view.tokpar_calls >= 0

    return Door(check)


def hf(name: str, prepares: bool = True) -> Door:
    """`as_hf`, and each field and method of its results."""
    from transformers import PreTrainedTokenizerFast

    engine = of_file(name)
    own = PreTrainedTokenizerFast(tokenizer_object=engine)
    view = tokpar.as_hf(own)
    if prepares:
        tokpar.Encoder(view).prepare()
    texts = [TEXTS[0], TEXTS[1], README]
    arguments: list[dict[str, Any]] = [
        {},
        {"return_offsets_mapping": True, "return_special_tokens_mask": True},
        {"truncation": True, "max_length": 30},
    ]
    pairs = list(itertools.product(texts, arguments))
    expected = [hf_fields(own(text, **named)) for text, named in pairs]
    names = [own.tokenize(text) for text in texts]
    batch = [own(text)["input_ids"] for text in BATCH]

    def check() -> None:
        for (text, named), fields_of_own in zip(pairs, expected, strict=True):
            assert hf_fields(view(text, **named)) == fields_of_own
        assert [view.tokenize(text) for text in texts] == names
        assert view(BATCH)["input_ids"] == batch
        assert view.tokpar_calls >= 0

    return Door(check)


def hf_fields(found: Any) -> dict[str, Any]:
    """What a `BatchEncoding` of one text tells."""
    encoding = found.encodings[0]
    own = encoding_fields(encoding)
    count = len(found["input_ids"])
    own["places"] = [found.token_to_chars(k) for k in range(0, count, 7)]
    own["tokens of characters"] = [found.char_to_token(k) for k in range(0, 60, 7)]
    own["words"] = found.word_ids(), [found.char_to_word(k) for k in range(0, 60, 7)]
    return own | dict(found.data)


ENCODING_NAMES = (
    *("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask"),
    *("word_ids", "sequence_ids", "n_sequences"),
)


def of_tokenizers() -> Door:
    own = tokpar.as_tokenizers(of_file("compiled"))
    fields_of_own = [encoding_fields(Tokenizer.encode(own, text)) for text in TEXTS[:2]]
    rows = [Tokenizer.encode(own, text).ids for text in BATCH]

    def check() -> None:
        for text, expected in zip(TEXTS, fields_of_own, strict=False):
            assert encoding_fields(own.encode(text)) == expected
        for call in (own.encode_batch, own.encode_batch_fast):
            assert [each.ids for each in call(BATCH)] == rows
            assert len(call([(BATCH[0], BATCH[1]), (BATCH[2], BATCH[3])])) == 2  # by the engine

    return Door(check)


def encoding_fields(encoding: Any) -> dict[str, Any]:
    return {name: getattr(encoding, name) for name in ENCODING_NAMES}


def patches() -> Door:
    """Threads that patch transformers, and take it back; a child finds it whole."""
    import tempfile

    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    folder = tempfile.mkdtemp()
    PreTrainedTokenizerFast(tokenizer_object=of_file("compiled")).save_pretrained(folder)
    own = AutoTokenizer.from_pretrained(folder)
    expected = own(README)["input_ids"]

    def patch() -> None:
        with suppress(tokpar.OptionError):  # the other thread was sooner
            tokpar.patch_transformers().undo()

    def check() -> None:
        with tokpar.patch_transformers() as patched:
            assert patched.active
            loaded = AutoTokenizer.from_pretrained(folder)
            assert loaded(README)["input_ids"] == expected
            assert loaded.tokpar_calls >= 0
        assert not hasattr(AutoTokenizer.from_pretrained(folder), "tokpar_calls")

    return Door(check, patch)


def patches_of_tiktoken() -> Door:
    """Threads that patch tiktoken, and take it back; a child finds it whole."""
    import tiktoken.registry

    from tests.support.tiktoken_parts import encoding

    own: tiktoken.Encoding = encoding()
    tiktoken.registry.ENCODINGS["cl100k_base"] = own

    def patch() -> None:
        with suppress(tokpar.OptionError):  # the other thread was sooner
            tokpar.patch_tiktoken().undo()

    def check() -> None:
        with tokpar.patch_tiktoken() as patched:
            assert patched.active
            found = tiktoken.get_encoding("cl100k_base")
            assert found.encode_ordinary(README) == own.encode_ordinary(README)
            assert found.tokpar_calls >= 1
        assert tiktoken.get_encoding("cl100k_base") is own

    return Door(check, patch)


def patches_of_tokenizers() -> Door:
    """Threads that patch tokenizers, and take it back; a child finds it whole."""
    file = str(FILES["compiled"])
    expected = Tokenizer.from_file(file).encode(README).ids

    def patch() -> None:
        with suppress(tokpar.OptionError):  # the other thread was sooner
            tokpar.patch_tokenizers().undo()

    def check() -> None:
        with tokpar.patch_tokenizers():
            loaded = Tokenizer.from_file(file)
            assert loaded.encode(README).ids == expected
            assert "tokpar_texts" in vars(loaded)
        assert "tokpar_texts" not in vars(Tokenizer.from_file(file))

    return Door(check, patch)


DOORS: Mapping[str, Callable[[], Door]] = {
    **{f"encode, {name}": partial(encode, name) for name in FILES},
    "encode, no tables yet": partial(encode, "compiled", False),
    "encode, threads": partial(encode, "compiled", strategy="cut", executor="threads", workers=2),
    "streams": streams,
    "sessions": sessions,
    "trusted sessions": trusted_sessions,
    "functions": functions,
    "tables in the background": background,
    "as_tiktoken": tiktoken_views,
    "as_hf, compiled": partial(hf, "compiled"),
    "as_hf, segments": partial(hf, "segments"),
    "as_tokenizers": of_tokenizers,
    "patch_transformers": patches,
    "patch_tiktoken": patches_of_tiktoken,
    "patch_tokenizers": patches_of_tokenizers,
}
PACKAGES = dict.fromkeys(
    ["as_hf, compiled", "as_hf, segments", "patch_transformers"], "transformers"
)
"""What a door uses that tokpar does not bring."""
