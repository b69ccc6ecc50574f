"""The page of the protocol says what proto says, and the recorded match is one of this protocol."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf import text_format

from botarena.v1 import play_pb2 as pb

ROOT = Path(__file__).parents[2]
LINE = re.compile(r" *(\d+) ([<>]) (.*)")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """proto/docs/page.py."""
    spec = importlib.util.spec_from_file_location("protocol_page", ROOT / "proto" / "docs" / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["protocol_page"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(generator: ModuleType) -> None:
    """Running proto/docs/page.py would change nothing."""
    assert generator.page() == (ROOT / "docs" / "protocol.md").read_text()


def test_every_message_and_enum_is_explained(generator: ModuleType) -> None:
    """By a comment in proto, which the page shows."""
    source = generator.read()
    for index, message in enumerate(source.file["messageType"]):
        assert source.comment(generator.MESSAGES, index), message["name"]
        for number, enum in enumerate(message.get("enumType", ())):
            assert source.comment(generator.MESSAGES, index, generator.NESTED_ENUMS, number), enum["name"]


def test_the_recorded_match_is_whole_and_valid() -> None:
    """Each line is an event of the protocol as it is today; the bot answers each request with a legal id, to the end."""
    text = (ROOT / "docs" / "transcript.md").read_text()
    lines = [LINE.fullmatch(line) for line in text.partition("```text\n")[2].partition("```")[0].splitlines()]
    kinds, times, legal = [], [], {}
    for line in lines:
        assert line is not None
        event = text_format.Parse(line[3], pb.BotEvent() if line[2] == ">" else pb.ArenaEvent())
        kinds.append(event.WhichOneof("event"))
        times.append(int(line[1]))
        if kinds[-1] == "decision_requested":
            asked = event.decision_requested
            legal[asked.decision_id] = {action.id for action in asked.legal}
        elif kinds[-1] == "act":
            assert event.act.action_id in legal.pop(event.act.decision_id)
    assert kinds[:2] == ["hello", "welcome"]
    assert kinds[-3:] == ["match_ended", "set_credit", "draining"]
    assert kinds.count("act") == kinds.count("decision_requested") > 5
    assert not legal
    assert times == sorted(times)
