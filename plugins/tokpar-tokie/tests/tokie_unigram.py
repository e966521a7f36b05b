"""A small Unigram tokenizer behind Metaspace, the kind of file that tokie is offered for."""

from tokenizers import Tokenizer, models, pre_tokenizers

PIECES = ["▁", "▁the", "the", "▁a", "an", "in", "ing", "st", "▁don", "'", "1", "12", "中", "文"]


def saved(tmp_path, change=lambda tokenizer: None):
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    scores = [(piece, -1.0 - n / 8) for n, piece in enumerate([*PIECES, *letters])]
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *dict(scores).items()], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    change(tokenizer)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path
