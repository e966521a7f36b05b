"""Streams of ids that are decoded while they arrive: one stream, and many streams of a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from tokpar.decoding.id_rows import Ids, checked_id, whole_numbers
from tokpar.decoding.tables import DecodeTable, StateRow
from tokpar.errors import EngineError, OptionError


class DecodeStream:
    """The text of ids that arrive one by one; see `Encoder.decode_stream`.

    Each text is returned as soon as no later id can change it; all at the end by a decoder whose
    shape is not known (docs/streaming.md). All texts together are the text that the tokenizer's own
    `decode` gives for all ids. Not for several threads at once."""

    __slots__ = ("_held_prompt", "_row", "_table")

    def __init__(self, table: DecodeTable, prefill: Ids = ()) -> None:
        self._table = table
        self._row: StateRow = table.start
        self._held_prompt = ""
        self.push(prefill)
        if self._row is not table.start:
            with suppress(EngineError):  # `decode` fails for the prompt, which has no text then
                self._held_prompt = table.finish(self._row)

    @property
    def most_held(self) -> int | None:
        """Code points of text that the stream holds at most until it is final.

        None: byte tokens such as "<0xE4>" are held to the end of their run, because a later byte
        may make the whole run invalid; or the shape of the decoder is not known."""
        return self._table.most_held

    def step(self, id_: int) -> str:
        """Returns the text that is final with one more id.

        Raises IdTypeError or IdRangeError for anything but an id, LookupError for an id that the
        tokenizer cannot decode. The stream is then as it was."""
        number = id_ if type(id_) is int else checked_id(id_)  # 5.0 is a key of 5, too
        text, self._row = self._row[number]
        return self._after_prompt(text) if self._held_prompt else text

    def push(self, ids: Ids) -> str:
        """Returns the text that is final with these ids. Raises the same errors as `step`."""
        row = self._row
        texts = []
        for id_ in whole_numbers(ids):
            text, row = row[id_]
            texts.append(text)
        self._row = row
        final = "".join(texts)
        return self._after_prompt(final) if self._held_prompt else final

    def finish(self) -> str:
        """Returns the rest of the text. The stream takes no ids afterwards, also where this raises
        EngineError because the own decode fails for the ids of the stream."""
        row, self._row = self._row, self._table.finished_row
        return self._after_prompt(self._table.finish(row))

    def fork(self) -> DecodeStream:
        """Returns another stream in the same state, for another continuation of the same ids."""
        twin = object.__new__(DecodeStream)
        twin._table, twin._row, twin._held_prompt = self._table, self._row, self._held_prompt
        return twin

    def _after_prompt(self, text: str) -> str:
        text, self._held_prompt = after_prompt(self._held_prompt, text)
        return text


class DecodeStreams:
    """The texts of many streams at once; see `Encoder.decode_streams`.

    A stream is a number. Not for several threads at once. `starts`: where each text of the last
    `push` begins in all texts of its stream together, code points; empty unless `decode_streams`
    was asked for them. The text of an id that is still held begins there, too."""

    def __init__(self, table: DecodeTable, has_starts: bool = False) -> None:
        self.starts: list[int] = []
        self._table = table
        self._streams: list[DecodeStream] = []
        self._free: list[int] = []
        self._sizes: dict[int, int] | None = {} if has_starts else None

    def __len__(self) -> int:
        """The number of open streams."""
        return len(self._streams) - len(self._free)

    def open(self, prefill: Ids = ()) -> int:
        """Returns the number of a new stream. Numbers of finished streams come again.

        `prefill`: see `Encoder.decode_stream`. Raises the same errors as `DecodeStream.step`."""
        stream = DecodeStream(self._table, prefill)
        if self._free:
            number = self._free.pop()
            self._streams[number] = stream
        else:
            number = len(self._streams)
            self._streams.append(stream)
        return number

    def push(self, streams: Ids, ids: Ids) -> list[str]:
        """Returns one text for each id: what is final in stream `streams[k]` with `ids[k]`.

        A stream may come several times. Raises the same errors as `DecodeStream.step`, and
        OptionError for a number that is no open stream; all streams are then as they were."""
        numbers = streams if isinstance(streams, list) else whole_numbers(streams)
        given = whole_numbers(ids)
        if len(numbers) != len(given):
            raise OptionError(f"one stream for each id: got {len(numbers)} and {len(given)}")
        try:
            chosen = [self._streams[number] for number in numbers]
        except (IndexError, TypeError):
            raise self._unknown(numbers) from None
        if numbers and min(numbers) < 0:
            raise self._unknown(numbers)
        before = [(stream._row, stream._held_prompt) for stream in chosen]
        try:
            texts = [stream.step(id_) for stream, id_ in zip(chosen, given, strict=True)]
        except BaseException:
            for stream, state in zip(chosen, before, strict=True):
                stream._row, stream._held_prompt = state
            raise
        if self._sizes is not None:
            self.starts = []
            for number, text in zip(numbers, texts, strict=True):
                self.starts.append(self._sizes.get(number, 0))
                self._sizes[number] = self.starts[-1] + len(text)
        return texts

    def finish(self, stream: int) -> str:
        """Returns the rest of the text of a stream and frees its number, also where it raises
        EngineError because the own decode fails for the ids of the stream."""
        if not 0 <= stream < len(self._streams):
            raise self._unknown([stream])
        chosen = self._streams[stream]
        if chosen._row is not self._table.finished_row:
            self._free.append(stream)
            if self._sizes is not None:
                self._sizes.pop(stream, None)
        return chosen.finish()

    def _unknown(self, numbers: Sequence[int]) -> OptionError:
        known = range(len(self._streams))
        wrong = next(n for n in numbers if not isinstance(n, int) or n not in known)
        return OptionError(f"a stream is a number that open() returned, got {wrong!r}")


def after_prompt(prompt_text: str, text: str) -> tuple[str, str]:
    """Returns what `text` adds to the prompt's text, and what is still known of that text.

    `prompt_text`: the prompt's own text from where `text` begins."""
    common = common_start(prompt_text, text)
    return text[common:], prompt_text[common:] if common == len(text) else ""


def common_start(one: str, other: str) -> int:
    """Returns how many characters two texts have in common at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
