"""``arena ladder``: the ledger and what is folded from it."""

from __future__ import annotations

import typer

ladder = typer.Typer(help="Checks and rebuilds ratings from the ledger.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(ladder, name="ladder")
