"""Who may import whom: ARCHITECTURE.md's table, held by walking the imports of every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "arena": ROOT / "arena",
    "engines": ROOT / "engines",
    "workers": ROOT / "workers",
    "bots.house": ROOT / "bots" / "house",
    "bots.bridges": ROOT / "bots" / "bridges",
    "botarena": ROOT / "bots" / "python" / "botarena",
}
PURE = (
    "arena.durations",
    "arena.match",
    "arena.ratings",
    "arena.ladder.pairing",
    "arena.ladder.standings",
    "arena.gateway.session",
    "arena.tournaments.formats",
)
IMPURE = {
    "asyncio",
    "socket",
    "time",
    "threading",
    "subprocess",
    "secrets",
    "os",
    "redis",
    "sqlalchemy",
    "grpc",
}
OURS = ("arena", "engines", "workers", "bots", "botarena", "tests")


def modules() -> Iterator[tuple[str, Path]]:
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            if "_pb2" in path.name:
                continue
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            yield name, path


def imports(path: Path) -> set[str]:
    """Absolute names that a module imports: the module, and module.name for names taken from a package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def is_in(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


MODULES = list(modules())


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_imports(name: str, path: Path) -> None:
    """Each module imports only what its package may."""
    ours = {imported for imported in imports(path) if imported.partition(".")[0] in OURS}
    others = {imported.partition(".")[0] for imported in imports(path)} - set(OURS)
    outside = others - set(sys.stdlib_module_names)
    if is_in(name, "engines"):
        assert not {i for i in ours if not is_in(i, "engines")}
        if not is_in(name, "engines.adapters"):
            assert not outside
    elif is_in(name, "botarena"):
        assert not {i for i in ours if not is_in(i, "botarena")}
        assert outside <= {"grpc", "google", "uvloop"}  # uvloop where it is installed
    elif is_in(name, "bots.house"):
        assert not {i for i in ours if not is_in(i, "botarena", "engines", "bots.house")}
    elif is_in(name, "bots.bridges"):
        assert not {i for i in ours if not is_in(i, "botarena", "engines", "bots.bridges")}
    elif is_in(name, "arena"):
        assert not {i for i in ours if is_in(i, "workers", "tests")}
        if not is_in(name, "arena.bench"):
            assert {i for i in ours if is_in(i, "bots")} <= {"bots.house.catalogue"}
    if is_in(name, *PURE):
        allowed = ("engines", *PURE, *(["botarena"] if is_in(name, "arena.gateway.session") else []))
        assert not {i for i in ours if not is_in(i, *allowed)}
        assert not others & IMPURE


def test_every_package_is_walked() -> None:
    """The walk finds modules in every package, so that a moved folder does not empty this test."""
    for package in (*PACKAGES, *PURE):
        assert any(is_in(name, package) for name, _ in MODULES), package
