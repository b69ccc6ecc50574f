"""The code that authors copy works: README, the five-minute guide and the examples."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import botarena

from .scripted import scripted_arena
from .table import ended, first_stream, play_game, program

SDK = Path(botarena.__file__).parents[1]
PAGES = (SDK / "README.md", SDK.parents[1] / "docs" / "first-bot.md")
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))
]
CHOOSER = (
    "import sys; lines = sys.stdin.read().split('one a line:')[1].split(); print('So', 'I', 'take:'); print('drop')"
)


async def plays(*command: str, env: dict[str, str] | None = None) -> list[str]:
    """What happens in a game of Balloon Challenge of two seats that a program plays."""
    async with scripted_arena() as arena, program(arena, sys.executable, *command, env=env) as process:
        stream = await first_stream(arena, process)
        hello = await stream.welcome()
        told = await play_game(stream, "balloon-challenge", players=2, seed=4, wants=hello.wants)
        stream.done()
        code, err = await ended(process)
        assert code == 0, err
        assert "Traceback" not in err
        return told


@pytest.mark.parametrize("block", BLOCKS)
async def test_code_in_the_docs_plays(block: str, tmp_path: Path) -> None:
    """Each Python block of the pages, saved as a file, plays a whole game without an error."""
    path = tmp_path / "my_bot.py"
    path.write_text(block)
    assert len(await plays(str(path))) > 50


async def test_the_greedy_example_plays() -> None:
    """It reads typed messages."""
    told = await plays(str(SDK / "examples" / "greedy_balloon.py"))
    assert told.count("drop") == 2 * 5


async def test_the_text_example_takes_the_models_action() -> None:
    """A model that always says `drop` on its last line drops at once in each round."""
    told = await plays(str(SDK / "examples" / "text_bot.py"), env={"LLM_COMMAND": f'{sys.executable} -c "{CHOOSER}"'})
    assert told.count("drop") == 2 * 5
    assert not any(text.startswith("play") for text in told)
