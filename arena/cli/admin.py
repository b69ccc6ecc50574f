"""``arena admin``: who may use the admin pages. Works on the database itself: whoever may write there may do all this."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from sqlalchemy import Connection

from arena import settings
from arena.cli.common import DataDir, console
from arena.cli.opened import open_arena
from arena.storage import admins

admin_app = typer.Typer(help="Who may use the admin pages (web.admin_listen).", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Whose: 2 to 40 letters, digits, '-' and '_'. The audit page shows it.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(admin_app, name="admin")


@admin_app.command()
def token(name: Name = "admin", data_dir: DataDir = None) -> None:
    """Makes a token for the admin pages and prints it, this once; an earlier one of the same name ends."""
    with _writing(data_dir) as connection:
        made = admins.create_token(connection, name)
    console.print(made, highlight=False, soft_wrap=True)


@admin_app.command()
def revoke(name: Name = "admin", data_dir: DataDir = None) -> None:
    """Ends an admin's token, and whatever sessions were begun with it."""
    with _writing(data_dir) as connection:
        admins.revoke(connection, name)
    console.print(f"the admin token of {name} is revoked", highlight=False)


@contextmanager
def _writing(data_dir: DataDir) -> Iterator[Connection]:
    database = open_arena(settings.load({"data_dir": data_dir}))
    try:
        with database.write() as connection:
            yield connection
    finally:
        database.close()
