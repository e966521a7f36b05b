"""What happened at each seam of an encoding, for people to see.

`trace` encodes a text and keeps what the merger saw; `explain_seam` tells the story of one seam;
`terminal` and `page` show it. Nothing here is imported by the library, and nothing is on its way.
"""

from tokpar.explain.rows import Row, TextPart, Token, Unequal
from tokpar.explain.seam import Explained, explain_seam
from tokpar.explain.trace import Trace, trace

__all__ = ["Explained", "Row", "TextPart", "Token", "Trace", "Unequal", "explain_seam", "trace"]
