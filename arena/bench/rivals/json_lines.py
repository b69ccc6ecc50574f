"""The other end of the bare loop: answers each line of JSON with the first legal action."""

from __future__ import annotations

import json
import sys

for line in sys.stdin:
    print(json.dumps({"action": json.loads(line)["legal"][0]}), flush=True)
