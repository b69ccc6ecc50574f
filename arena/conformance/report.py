"""Results for people, programs and CI."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from rich.text import Text

from arena.conformance.scenario import Level, Result, Status

_COLOURS = {Status.PASSED: "green", Status.FAILED: "red", Status.SKIPPED: "dim"}


def is_fatal(result: Result, *, strict: bool) -> bool:
    """Whether a result fails the whole run: a required scenario's, or with ``strict`` any."""
    return result.status is Status.FAILED and (strict or result.scenario.level is Level.REQUIRED)


def to_json(command: Sequence[str], results: Sequence[Result], *, strict: bool) -> dict[str, Any]:
    """The whole run as a JSON object."""
    return {
        "command": list(command),
        "conforms": not any(is_fatal(result, strict=strict) for result in results),
        "scenarios": [
            {
                "name": result.scenario.name,
                "level": str(result.scenario.level),
                "status": str(result.status),
                "expected": result.scenario.expected,
                "did": result.did,
                "seconds": round(result.duration_s, 3),
                **({"output": result.output} if result.status is Status.FAILED else {}),
            }
            for result in results
        ],
    }


def to_junit(results: Sequence[Result], *, strict: bool) -> bytes:
    """JUnit's XML. A recommended scenario that failed counts as skipped unless ``strict``."""
    suite = ET.Element("testsuite", name="arena conformance", tests=str(len(results)), errors="0")
    for result in results:
        scenario = result.scenario
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"conformance.{scenario.level}",
            name=scenario.name,
            time=f"{result.duration_s:.3f}",
        )
        if is_fatal(result, strict=strict):
            failure = ET.SubElement(case, "failure", message=_printable(result.did))
            failure.text = _printable(f"expected: {scenario.expected}\ndid: {result.did}\n\n{result.output}")
        elif result.status is not Status.PASSED:
            ET.SubElement(case, "skipped", message=_printable(f"{result.status}: {result.did}"))
        else:
            ET.SubElement(case, "system-out").text = _printable(result.did)
    for tag, attribute in (("failure", "failures"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{sum(result.duration_s for result in results):.3f}")
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True))


def _printable(text: str) -> str:
    """Without the control characters that XML forbids."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)


def lines(results: Sequence[Result], *, strict: bool) -> Iterator[Text]:
    """The run for a terminal: a line a scenario, with what was expected where the program did otherwise, and what it
    printed where that fails the run."""
    width = max(len(result.scenario.name) for result in results)
    for level in Level:
        of_level = [result for result in results if result.scenario.level is level]
        if of_level:
            yield Text(level, style="bold")
        for result in of_level:
            line = Text("  ").append(f"{result.status:8}", style=_COLOURS[result.status])
            yield line.append(f"{result.scenario.name:{width}}  {result.did}")
            if result.status is Status.FAILED:
                yield Text(f"          expected: {result.scenario.expected}", style="dim")
            if result.output and is_fatal(result, strict=strict):
                yield Text(textwrap.indent(result.output, "          | "), style="dim")


def verdict(results: Sequence[Result], *, strict: bool) -> str:
    """The run in a sentence."""
    parts = []
    for level in Level:
        of_level = [result for result in results if result.scenario.level is level]
        failed = sum(result.status is Status.FAILED for result in of_level)
        skipped = sum(result.status is Status.SKIPPED for result in of_level)
        if of_level:
            counts = f"{len(of_level) - failed - skipped} of {len(of_level)} {level} passed"
            parts.append(counts + (f" ({skipped} skipped)" if skipped else ""))
    conforms = not any(is_fatal(result, strict=strict) for result in results)
    return f"{'The bot conforms' if conforms else 'The bot does not conform'}: {', '.join(parts)}."
