"""Show what happened at each seam of an encoding.

`trace` encodes a text and keeps the chunks and pieces of the merger. `explain_seam` describes one
seam. `terminal` and `page` show the description. The rest of the library imports nothing from
here.
"""

from tokpar.explain.rows import Row, TextPart, Token, Unequal
from tokpar.explain.seam import Explained, explain_seam
from tokpar.explain.trace import Trace, trace

__all__ = ["Explained", "Row", "TextPart", "Token", "Trace", "Unequal", "explain_seam", "trace"]
