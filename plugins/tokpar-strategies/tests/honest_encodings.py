"""What a baseline calls lossless."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, event

import tokpar
from tests.support.drawn_runs import adapter_of, own_call


def assert_honest(tokenizer: Any, text: str, **options: Any) -> None:
    """What is called lossless is, and the checker agrees."""
    expected, adapter = own_call(tokenizer, text), adapter_of(tokenizer)
    try:
        encoding = tokpar.encode(text, adapter, allow_approximate=True, workers=2, **options)
    except tokpar.EngineError as error:  # other ids, which cannot be post-processed
        if "cannot post-process the ids that it gave" not in str(error):
            raise
        assume(False)
    found = [seam.position for seam in encoding.seams]
    assert found == sorted(set(found))
    if not encoding.lossless:
        event("approximate")
        return
    event("lossless in several chunks" if found else "lossless in one chunk")
    assert encoding.ids.tolist() == expected
    report = tokpar.check(encoding, text, adapter)
    assert report.ok, report.findings
