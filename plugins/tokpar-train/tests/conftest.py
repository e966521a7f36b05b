"""The optional corpora, *.jsonl files in TOKPAR_CORPORA."""

from tests.support.optional_data import corpus as corpus
