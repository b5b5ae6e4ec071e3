"""What a blind break must not tell before its reveal, in a form that nobody reads by accident.

It is packed, not encrypted: whoever wants to know the bug finds it in the difference between their own code
and the practice copy anyway. What counts is that no search, listing or event viewer shows the answer to
somebody who did not ask for it.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def seal(data: Any) -> str:
    """Plain data as one line of letters."""
    return base64.b85encode(zlib.compress(json.dumps(data).encode())).decode("ascii")


def unseal(text: str) -> Any:
    """What was sealed."""
    return json.loads(zlib.decompress(base64.b85decode(text)))
