"""Tests of tokpar; `texts`, `tokenizers_drawn` and `fakes` serve all of them."""
