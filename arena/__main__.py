"""``arena``, and ``python -m arena``."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs a command. Ctrl-C ends it in one line at any time, that of the imports included."""
    try:
        from arena.cli import main as run  # noqa: PLC0415 - see above

        run()
    except KeyboardInterrupt:
        print("arena: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
