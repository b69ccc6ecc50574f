"""The C++ kit from an empty folder, by the commands of its README."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from arena import kits
from tests.languages import kit

kit.needs("cmake", "c++", "protoc", "grpc_cpp_plugin", "clang-format")

SOURCE = kit.ROOT / "bots" / "cpp"
IMPORTS = r"^(#include|namespace) .*\n"
EXAMPLE = "build/balloon_challenge"
USER = """\
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES CXX)
find_package(botarena REQUIRED)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, after the first commands of the README: build, and games by `arena match`."""
    folder = tmp_path_factory.mktemp("cpp")
    kit.copy_tree(SOURCE, folder)
    started = time.monotonic()
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("build and first match", started)
    return folder


def test_its_own_tests_pass(built: Path) -> None:
    """`ctest` in the copy."""
    kit.shell("ctest --test-dir build --output-on-failure", built)


def test_formatted(built: Path) -> None:
    """clang-format would change nothing."""
    kit.shell(
        "find examples include src tests template -name '*.[ch]pp' | xargs clang-format --dry-run --Werror", built
    )


def test_the_programs_of_the_readme_compile_when_installed(built: Path, tmp_path: Path) -> None:
    """What `cmake --install` lays down is found by another project, which compiles and links what the README shows."""
    programs = re.findall(r"^```cpp\n(.*?)^```", (built / "README.md").read_text(), re.M | re.S)
    assert len(programs) > 1
    lists = USER
    for number, program in enumerate(programs):
        (tmp_path / f"{number}.cpp").write_text(program)
        lists += f"add_executable(program{number} {number}.cpp)\n"
        lists += f"target_link_libraries(program{number} PRIVATE botarena::botarena)\n"
    (tmp_path / "CMakeLists.txt").write_text(lists)
    kit.shell(f"cmake --install build --prefix {tmp_path}/installed", built)
    kit.shell("cmake -B build -DCMAKE_PREFIX_PATH=$PWD/installed && cmake --build build -j2", tmp_path)
    kit.shell("build/program0 --help", tmp_path)


def test_the_package_is_in_form(built: Path) -> None:
    """`cpack` packs the library, its headers, and what CMake finds it by."""
    kit.shell("cpack --config build/CPackConfig.cmake -B packed", built)
    listed = kit.shell("tar tzf packed/*.tar.gz", built)
    for name in ("libbotarena.a", "include/botarena/botarena.hpp", "v1/play.pb.h", "botarena-config.cmake"):
        assert name in listed


def test_raw_random_is_short() -> None:
    """At most 25 lines without imports; that it plays every game is for the conformance kit to say."""
    assert kit.bare_lines(SOURCE / "examples" / "raw_random.cpp", imports=IMPORTS) <= 25


def test_the_example_beats_random(built: Path) -> None:
    """The typed bot for Balloon Challenge wins most of its games."""
    bots = kit.match(built, EXAMPLE, "random", game="balloon-challenge", games=20)
    assert kit.faults(bots) == 0
    assert bots["balloon_challenge"]["score"] >= 0.8


def test_conformance(built: Path) -> None:
    """The SDK does all that is recommended, the bare bot what is required."""
    kit.conformance(built, EXAMPLE, strict=True)
    kit.conformance(built, "build/raw_random", strict=False)


def test_plays_on_a_running_arena(built: Path) -> None:
    """The last command of the README: the same program, on an arena; SIGTERM ends it with status 0."""
    command = kit.commands(built / "README.md")[-1].splitlines()[-1]
    kit.plays_on_a_running_arena(built, command, "balloon-challenge")


def test_a_new_project_plays(tmp_path: Path) -> None:
    """What `arena new` makes builds and plays."""
    folder = tmp_path / "my-bot"
    started = time.monotonic()
    kits.make_project(kits.load("cpp"), folder, "balloon-pop")
    kit.shell(kit.commands(folder / "README.md")[0], folder)
    kit.timed("new project to first match", started)
