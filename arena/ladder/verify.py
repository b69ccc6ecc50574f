"""Checks a ladder's export without the arena: every match is refereed again, every rating recomputed."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from arena.errors import ArenaError, UserError
from arena.ladder.export import FORMAT, SIGNATURE_TAG
from arena.ladder.standings import BrokenLedger, Standing, fold
from arena.match.record import MOST_BYTES, DamagedRecord, parse_record
from arena.match.replay import Verified, verify
from arena.ratings.entries import LedgerEntry, SetResult, SetVoid
from arena.storage.ledger import from_json
from arena.storage.plans import seating

MOST_LINE: Final = 2 * MOST_BYTES
"""A line holds one record at most, in base64."""
_UNREADABLE: Final = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, ArenaError)
"""What members of another kind lead to: anybody can write lines, and sign them with a key of his own."""


@dataclass(slots=True)
class ExportReport:
    """What was checked, what is wrong, and what could not be proven."""

    ladder: str = ""
    arena_key: str = ""
    versions: int = 0
    sets: int = 0
    matches: int = 0
    entries: int = 0
    ratings: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Set:
    """A set with what its matches say, once they are refereed."""

    id: str
    versions: tuple[int, ...]
    rated: bool
    state: str
    deal_mode: str
    reason: str | None
    places: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def entry(self) -> LedgerEntry | None:
        """What the ledger must say of it."""
        if not self.rated:
            return None
        if self.state != "FINISHED":
            return SetVoid(self.id, self.reason or "")
        return SetResult(self.id, self.versions, tuple(self.places[index] for index in sorted(self.places)))


def verify_export(path: Path, on_match: Callable[[], None] = lambda: None) -> ExportReport:
    """Raises UserError if the file is none at all; everything else that is wrong is in the report."""
    check = _Check(on_match)
    for document in _lines(path, check.report):
        try:
            check.take(document)
        except _UNREADABLE as error:
            check.report.problems.append(f"a line of kind {document.get('line')!r} cannot be read: {error!r}")
    try:
        check.finish()
    except _UNREADABLE as error:
        check.report.problems.append(f"the lines do not fit together: {error!r}")
    return check.report


def _lines(path: Path, report: ExportReport) -> Iterator[dict[str, Any]]:
    """All lines but the last, whose digest and signature are checked when it comes."""
    digest = hashlib.sha256()
    ended = False
    try:
        with gzip.open(path, "rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MOST_LINE + 1), b""), 1):
                if len(line) > MOST_LINE:
                    raise ValueError(f"line {number} holds more than {MOST_LINE >> 20} MiB, and none does")
                document = json.loads(line)
                if not isinstance(document, dict) or (number == 1 and document.get("export") != FORMAT):
                    raise UserError(f"{path} is no export of format {FORMAT}")
                if document.get("line") == "end":
                    ended = True
                    _check_end(document, digest.digest(), report)
                    break
                digest.update(line)
                yield document
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    except (EOFError, ValueError) as error:
        report.problems.append(f"the file is damaged: {error}")
    if not ended:
        report.problems.append("the last line, with the arena's signature, is missing")


def _check_end(document: dict[str, Any], digest: bytes, report: ExportReport) -> None:
    if document.get("sha256") != digest.hex():
        report.problems.append("the file's lines are not those that were signed")
        return
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(report.arena_key))
        key.verify(bytes.fromhex(document["signature"]), SIGNATURE_TAG + digest)
    except (InvalidSignature, ValueError, KeyError, TypeError):
        report.problems.append("the arena's signature over the file does not hold")


class _Check:
    """Takes the lines one by one."""

    def __init__(self, on_match: Callable[[], None]) -> None:
        self.report = ExportReport()
        self._on_match = on_match
        self._header: dict[str, Any] = {}
        self._names: dict[int, dict[str, Any]] = {}
        self._set: _Set | None = None
        self._expected: dict[str, LedgerEntry] = {}
        self._entries: list[tuple[int, LedgerEntry]] = []
        self._ratings: dict[int, Standing] = {}

    def take(self, document: dict[str, Any]) -> None:
        kind = document["line"]
        if kind == "match":
            self._take_match(document)
            return
        self._close_set()
        match kind:
            case "header":
                self._header = document
                self.report.ladder, self.report.arena_key = document["ladder"], document["arena_key"]
            case "version":
                self.report.versions += 1
                self._names[document["id"]] = {name: document[name] for name in ("bot", "label", "owner")}
            case "set":
                self.report.sets += 1
                self._set = _Set(
                    id=document["id"],
                    versions=tuple(document["versions"]),
                    rated=document["rated"],
                    state=document["state"],
                    deal_mode=document["deal_mode"],
                    reason=document["reason"],
                )
            case "entry":
                self.report.entries += 1
                self._entries.append((document["seq"], from_json(document["kind"], document["payload"])))
            case "rating":
                self.report.ratings += 1
                values = {one.name: document[one.name] for one in fields(Standing)}
                self._ratings[document["version"]] = Standing(**values)
            case _:
                self.report.problems.append(f"a line of the unknown kind {kind!r}")

    def finish(self) -> None:
        """All lines are taken: the ledger against the sets, the ratings against the ledger."""
        self._close_set()
        problems = self.report.problems
        if self._header.get("entries") != len(self._entries):
            problems.append(f"there are {len(self._entries)} ledger entries of {self._header.get('entries')}")
        told: set[str] = set()
        for seq, entry in self._entries:
            if isinstance(entry, SetResult | SetVoid):
                if entry.set_id in told:
                    problems.append(f"entry {seq}: the set {entry.set_id} is in the ledger twice")
                told.add(entry.set_id)
                if entry != self._expected.get(entry.set_id):
                    problems.append(f"entry {seq} does not say what the matches of set {entry.set_id} say")
        problems += [f"the set {set_id} is not in the ledger" for set_id in self._expected.keys() - told]
        try:
            folded = fold(self._entries)
        except BrokenLedger as error:
            problems.append(str(error))
            return
        for version in sorted(folded.keys() | self._ratings.keys()):
            if folded.get(version) != self._ratings.get(version):
                problems.append(
                    f"version {version} has {self._ratings.get(version)}, but the ledger gives {folded.get(version)}"
                )

    def _close_set(self) -> None:
        ended, self._set = self._set, None
        if ended is None:
            return
        if ended.state == "FINISHED" and sorted(ended.places) != list(range(len(ended.versions))):
            self.report.problems.append(f"set {ended.id} is finished with {len(ended.places)} good matches")
        if (entry := ended.entry()) is not None:
            self._expected[ended.id] = entry

    def _take_match(self, document: dict[str, Any]) -> None:
        about, match_id, result = self._set, document["id"], document["result"]
        if about is None:
            raise ValueError("a match without its set")
        if result is None:
            return
        self.report.matches += 1
        self._on_match()
        n, index = len(about.versions), document["game_index"]
        order = seating(n, index)
        about.places[index] = tuple(result["places"][order.index(position)] for position in range(n))
        if document["record"] is None:
            self.report.notes.append(
                f"match {match_id}: its record is not kept any more; the result was taken on trust"
            )
            return
        try:
            data = base64.b64decode(document["record"])
            verified = verify(parse_record(data))
        except DamagedRecord as error:
            self.report.problems.append(f"match {match_id}: {error}")
            return
        self.report.notes += [f"match {match_id}: {note}" for note in verified.notes]
        for what, holds in self._comparisons(document, verified, data, about):
            if not holds:
                self.report.problems.append(f"match {match_id}: {what}")

    def _comparisons(
        self, document: dict[str, Any], verified: Verified, data: bytes, about: _Set
    ) -> Iterator[tuple[str, bool]]:
        """What the record says against what the export says of the match."""
        header, footer, result = verified.record.header, verified.record.footer, document["result"]
        order = seating(len(about.versions), document["game_index"])
        names = [self._names.get(about.versions[position]) for position in order]
        seated = [{"bot": seat["bot"], "label": seat["version"], "owner": seat["owner"]} for seat in header["seats"]]
        played = [one for one in document["attempts"] if one["attempt"] == header["attempt"]]
        yield "the record is of another match", (header["match_id"], header["set_id"]) == (document["id"], about.id)
        yield "another game of the set", header["game_index"] == document["game_index"]
        for name in ("game", "players", "config", "time_control"):
            yield f"{name} is not the ladder's", header[name] == self._header[name]
        yield "signed by another key", header["arena_key"] == self.report.arena_key
        yield "rated or not", header["rated"] == about.rated
        yield "the deal is of another mode", header["deal"]["mode"] == about.deal_mode
        yield "other bots sat there", seated == names
        yield "the file is not the one that was named", hashlib.sha256(data).hexdigest() == result["record_digest"]
        yield "its head is not the one that was named", verified.record.head.hex() == result["record_head"]
        for name in ("places", "scores", "reasons"):
            yield f"the {name} are not the refereed ones", list(footer[name]) == list(result[name])
        yield "the attempt is not on the list", len(played) == 1 and played[0]["attempt"] == result["attempt"]
        if played:
            yield "another commitment was published", played[0]["commitment"] == header["deal"]["commitment"]
            yield "another secret was kept", played[0]["secret"] == footer["secret"]
