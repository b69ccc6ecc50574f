"""Writes docs/protocol.md: prose from protocol.md.in beside this, the reference from the comments in proto.

Run it without arguments after a change of either; a test holds the page against them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.gateway.status import CODES

HERE: Final = Path(__file__).parent
PROTO: Final = HERE.parent
PAGE: Final = PROTO.parent / "docs" / "protocol.md"
FILE: Final = "botarena/v1/play.proto"
PACKAGE: Final = ".botarena.v1."

MESSAGES, ENUMS, SERVICES = 4, 5, 6
"""Field numbers of FileDescriptorProto, of which the paths of comments are made."""
NESTED_ENUMS: Final = 4
FIELDS_OR_VALUES: Final = 2
LABEL_REPEATED: Final = "LABEL_REPEATED"

SECTIONS: Final = {
    "Frames": ("PlayRequest", "PlayResponse", "BotEvent", "ArenaEvent"),
    "From the bot": ("Hello", "GameSupport", "Wants", "Ready", "Act", "Annotation", "SetCredit", "Pong"),
    "To the bot: sessions and sets": (
        "Welcome",
        "Limits",
        "SetOffered",
        "TimeControl",
        "Notice",
        "RatingChange",
        "Draining",
        "Ping",
    ),
    "To the bot: games": (
        "MatchStarted",
        "Player",
        "EventsObserved",
        "ObservedEvent",
        "DecisionRequested",
        "View",
        "Action",
        "TypedAction",
        "Clock",
        "PlayedForYou",
        "ActResult",
        "MatchEnded",
        "SeatReason",
    ),
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file's descriptor as JSON, and its comments by the path of what they are about."""

    file: Mapping[str, Any]
    comments: Mapping[tuple[int, ...], str]

    def comment(self, *path: int) -> str:
        """What stands above a definition, as one paragraph a line; empty if nothing does."""
        lines = [line.strip() for line in self.comments.get(path, "").splitlines()]
        return re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(lines)).strip()


def read() -> Source:
    """The protocol, as buf reads it."""
    buf = shutil.which("buf") or str(Path(sys.executable).parent / "buf")
    command = [buf, "build", str(PROTO), "-o", "-#format=json"]
    files = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["file"]
    file = next(file for file in files if file["name"] == FILE)
    locations = file["sourceCodeInfo"]["location"]
    comments = {tuple(place.get("path", ())): place.get("leadingComments", "") for place in locations}
    return Source(file, comments)


def reference(source: Source) -> str:
    """Every message and enum of the file, by section. Raises KeyError if SECTIONS lacks or has one too many."""
    parts = dict(_definitions(source))
    named = [name for names in SECTIONS.values() for name in names]
    if set(named) != set(parts):
        raise KeyError(f"SECTIONS and {FILE} differ: {sorted(set(named) ^ set(parts))}")
    return "\n".join(f"## {title}\n\n" + "\n".join(parts[name] for name in names) for title, names in SECTIONS.items())


def _definitions(source: Source) -> Iterator[tuple[str, str]]:
    for index, message in enumerate(source.file["messageType"]):
        yield message["name"], _message(source, message, (MESSAGES, index))
    for index, enum in enumerate(source.file["enumType"]):
        yield enum["name"], f"### {enum['name']}\n\n" + _values(source, enum, (ENUMS, index))


def _message(source: Source, message: Mapping[str, Any], path: tuple[int, ...]) -> str:
    fields = message.get("field", ())
    rows = [_field(source, message, field, (*path, FIELDS_OR_VALUES, index)) for index, field in enumerate(fields)]
    text = f"### {message['name']}\n\n{source.comment(*path)}\n\n"
    text += _table(("field", "", ""), rows)
    for index, enum in enumerate(message.get("enumType", ())):
        text += f"\n`{message['name']}.{enum['name']}`: "
        text += _values(source, enum, (*path, NESTED_ENUMS, index))
    return text


def _field(
    source: Source, message: Mapping[str, Any], field: Mapping[str, Any], path: tuple[int, ...]
) -> tuple[str, str, str]:
    kind = field.get("typeName", "").removeprefix(PACKAGE) or field["type"].removeprefix("TYPE_").lower()
    is_own = "typeName" in field and field["typeName"].startswith(PACKAGE)
    anchor = kind.partition(".")[0].lower()
    shown = f"[{kind}](#{anchor})" if is_own else f"`{kind.removeprefix('.')}`"
    if field["label"] == LABEL_REPEATED:
        shown = f"repeated {shown}"
    elif field.get("proto3Optional"):
        shown = f"optional {shown}"
    elif "oneofIndex" in field:
        shown = f"{shown}, one of `{message['oneofDecl'][field['oneofIndex']]['name']}`"
    return f"{field['number']} `{field['name']}`", shown, source.comment(*path)


def _values(source: Source, enum: Mapping[str, Any], path: tuple[int, ...]) -> str:
    rows = [
        (f"{value.get('number', 0)} `{value['name']}`", source.comment(*path, FIELDS_OR_VALUES, index))
        for index, value in enumerate(enum["value"])
    ]
    return f"{source.comment(*path)}\n\n" + _table(("value", ""), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def statuses() -> str:
    """The statuses with which a stream may end."""
    rows = [(f"`{code.name}`", f"`{reason}`") for reason, code in sorted(CODES.items(), key=lambda item: item[1].name)]
    return _table(("status", "reason"), rows)


def page() -> str:
    """The whole page."""
    source = read()
    text = (HERE / "protocol.md.in").read_text()
    places = {
        "{{service}}": source.comment(SERVICES, 0),
        "{{statuses}}": statuses(),
        "{{reference}}": reference(source),
    }
    for place, content in places.items():
        assert place in text, place
        text = text.replace(place, content.rstrip())
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
