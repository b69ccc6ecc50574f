"""Records: everything that happened in a match, as JSON Lines under a hash chain.

    {header ..., "hash": h0}      what was to be played, the commitment, the arena's key and its receipt for (match, commitment)
    {event ..., "hash": h1}       one line a chance outcome or joint decision
    {footer ..., "hash": hn}      places, scores, reasons, and the secret behind the commitment
    {"head": hn, "receipt": ...}  the arena's signature over (match, head, secret)

Each hash is SHA-256 over the previous one (32 zero bytes before the first) and the exact bytes of its line without the
hash member. The layouts are specified in docs/records.md.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

import engines
from arena.match.deal import rules_hash
from arena.match.referee import ChanceDrawn, Event, JointPlayed, Outcome, Played
from arena.match.shape import wrong_line
from arena.match.spec import Spec

FORMAT = 1
ENGINE = "bot-arena 0.1.0"
_START = bytes(32)
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""Deflate, no time, no name, no system: always these bytes, so that not one byte of a file changes unseen."""
MOST_BYTES = 32 << 20
"""No record is larger, packed or unpacked; anybody can make a small file that would be."""
_HASH_MEMBER = len(',"hash":"') + 64 + len('"}')


class DamagedRecord(ValueError):
    """A record that is not what the arena wrote. ``line`` counts from 1 and names the first wrong one."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Record:
    """A finished match's record: its ``lines`` without line ends, and ``head``, the last hash of the chain (32 bytes)."""

    lines: tuple[bytes, ...]
    head: bytes
    receipt: bytes

    def to_bytes(self) -> bytes:
        """The file: gzip of the lines, the same bytes for the same record."""
        raw = b"\n".join(self.lines) + b"\n"
        deflate = zlib.compressobj(level=6, wbits=-15)
        body = deflate.compress(raw) + deflate.flush()
        return _GZIP_HEADER + body + struct.pack("<LL", zlib.crc32(raw), len(raw))


def commitment_receipt(key: Ed25519PrivateKey, match_id: str, commitment: bytes) -> bytes:
    """The arena's word, before the first event, that this match is dealt from what it committed to."""
    return key.sign(_receipt_message(b"botarena/receipt/start/1", match_id.encode(), commitment))


def final_receipt(key: Ed25519PrivateKey, match_id: str, head: bytes, secret: bytes) -> bytes:
    """The arena's word that the match went as the record with this head says."""
    return key.sign(_receipt_message(b"botarena/receipt/end/1", match_id.encode(), head, secret))


def check_commitment_receipt(public_key: bytes, match_id: str, commitment: bytes, receipt: bytes) -> bool:
    return _signed(public_key, receipt, b"botarena/receipt/start/1", match_id.encode(), commitment)


def check_final_receipt(public_key: bytes, match_id: str, head: bytes, secret: bytes, receipt: bytes) -> bool:
    return _signed(public_key, receipt, b"botarena/receipt/end/1", match_id.encode(), head, secret)


def write_record(spec: Spec, events: Sequence[Event], outcome: Outcome, key: Ed25519PrivateKey) -> Record:
    """The record of a finished match, signed."""
    if spec.deal.secret is None:
        raise ValueError("a record needs the deal's secret")
    public = key.public_key().public_bytes_raw()
    head_receipt = commitment_receipt(key, spec.match_id, spec.deal.commitment)
    lines, head = chain(record_documents(spec, events, outcome, public, head_receipt))
    receipt = final_receipt(key, spec.match_id, head, spec.deal.secret)
    return Record((*lines, _dump({"head": head.hex(), "receipt": receipt.hex()})), head, receipt)


def record_documents(
    spec: Spec, events: Sequence[Event], outcome: Outcome, public_key: bytes, receipt: bytes
) -> list[dict[str, Any]]:
    """Header, events and footer as JSON objects without hashes."""
    game = engines.get(spec.game)
    header = {
        "record": FORMAT,
        "engine": ENGINE,
        "rules_version": game.rules_version,
        "rules_hash": rules_hash(game).hex(),
        **spec.to_json(),
        "arena_key": public_key.hex(),
        "receipt": receipt.hex(),
    }
    footer = {
        "places": list(outcome.places),
        "scores": list(outcome.scores),
        "reasons": [str(reason) for reason in outcome.reasons],
        "events": len(events),
        "secret": (spec.deal.secret or b"").hex(),
    }
    return [header, *(_event_document(game, event) for event in events), footer]


def _event_document(game: engines.Game, event: Event) -> dict[str, Any]:
    doc: dict[str, Any] = {"seq": event.seq, "ms": event.at_ms}
    if isinstance(event, ChanceDrawn):
        return doc | {"chance": event.outcome, "text": game.text(event.outcome)}
    doc["joint"] = [_part_document(game, part) for part in event.parts]
    if event.ended:
        doc["ended"] = True
    return doc


def _part_document(game: engines.Game, part: Played) -> dict[str, Any]:
    doc: dict[str, Any] = {"seat": part.seat}
    if part.action is not None:
        doc |= {"id": part.action, "text": game.text(part.action)}
    doc |= {"source": str(part.source), "legal": part.legal_count}
    if part.elapsed_us or part.rtt_us or part.charged_ms:
        doc |= {"us": part.elapsed_us, "rtt_us": part.rtt_us, "charged": part.charged_ms}
    if part.fault is not None:
        doc |= {"fault": str(part.fault), "detail": part.detail}
    if part.annotation:
        doc["annotation"] = dict(part.annotation)
    return doc


def chain(documents: Sequence[Mapping[str, Any]]) -> tuple[list[bytes], bytes]:
    """The lines with their hashes, and the last hash."""
    lines, head = [], _START
    for document in documents:
        body = _dump(document)
        head = hashlib.sha256(head + body).digest()
        lines.append(b'%s,"hash":"%s"}' % (body[:-1], head.hex().encode()))
    return lines, head


@dataclass(frozen=True, slots=True)
class ParsedRecord:
    """A record whose chain holds and whose lines have their shape. ``documents``: header, events and footer, no hashes."""

    documents: tuple[dict[str, Any], ...]
    head: bytes
    receipt: bytes

    @property
    def header(self) -> dict[str, Any]:
        return self.documents[0]

    @property
    def events(self) -> tuple[dict[str, Any], ...]:
        return self.documents[1:-1]

    @property
    def footer(self) -> dict[str, Any]:
        return self.documents[-1]


def parse_record(data: bytes) -> ParsedRecord:
    """Reads a record file and checks its chain and its lines' shape. Raises DamagedRecord with the first wrong line."""
    if not data.startswith(_GZIP_HEADER):
        raise DamagedRecord(1, "the file does not begin as a record's gzip header does")
    raw, complete = _unpack(data)
    lines = raw.split(b"\n")
    if complete and lines[-1] == b"":
        lines.pop()
    documents: list[dict[str, Any]] = []
    head = _START
    for number, line in enumerate(lines[: len(lines) - 1], 1):
        body = line[:-_HASH_MEMBER] + b"}"
        expected = hashlib.sha256(head + body).digest()
        if line != b'%s,"hash":"%s"}' % (body[:-1], expected.hex().encode()):
            raise DamagedRecord(number, "this line is not the one that the chain of hashes goes on with")
        head = expected
        documents.append(_load(number, body))
    if not complete:
        raise DamagedRecord(len(documents) + 1, f"the file is damaged behind line {len(documents)}, the last good one")
    return _closed(documents, head, lines)


def _closed(documents: list[dict[str, Any]], head: bytes, lines: list[bytes]) -> ParsedRecord:
    number = len(lines)
    if len(documents) < 2:
        raise DamagedRecord(number, "a record has at least a header, a footer and a receipt")
    if documents[0].get("record") != FORMAT:
        raise DamagedRecord(1, f"not a record of format {FORMAT}")
    if (wrong := wrong_line(documents)) is not None:
        line, why = wrong
        raise DamagedRecord(line, f"it {why}")
    closing = _load(number, lines[-1])
    if closing.get("head") != head.hex():
        raise DamagedRecord(number, "the closing line names another head than the chain's")
    try:
        receipt = bytes.fromhex(closing["receipt"])
    except (KeyError, ValueError, TypeError):
        raise DamagedRecord(number, "the closing line has no receipt") from None
    return ParsedRecord(tuple(documents), head, receipt)


def _unpack(data: bytes) -> tuple[bytes, bool]:
    """The lines' bytes as far as the gzip stream goes, and whether it is whole. Raises DamagedRecord if it is too large."""
    decoder = zlib.decompressobj(wbits=31)
    try:
        raw, whole = decoder.decompress(data, MOST_BYTES + 1), True
    except zlib.error:
        raw, whole = _salvage(data), False
    if max(len(data), len(raw)) > MOST_BYTES:
        raise DamagedRecord(1, f"the file holds more than {MOST_BYTES >> 20} MiB, and no record does")
    return raw, whole and decoder.eof and not decoder.unused_data


def _salvage(data: bytes) -> bytes:
    """What a damaged gzip stream gives before the damage."""
    decoder = zlib.decompressobj(wbits=31)
    raw = bytearray()
    for offset in range(len(data)):
        try:
            raw += decoder.decompress(data[offset : offset + 1])
        except zlib.error:
            break
        if len(raw) > MOST_BYTES:
            break
    return bytes(raw)


def _load(number: int, line: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(line)
    except ValueError:
        raise DamagedRecord(number, "not a line of JSON") from None
    if not isinstance(document, dict):
        raise DamagedRecord(number, "not a JSON object")
    return document


def _dump(document: Mapping[str, Any]) -> bytes:
    return orjson.dumps(document)


def _receipt_message(tag: bytes, *fields: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in (tag, *fields))


def _signed(public_key: bytes, receipt: bytes, tag: bytes, *fields: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(receipt, _receipt_message(tag, *fields))
    except (InvalidSignature, ValueError):
        return False
    return True


__all__ = [
    "MOST_BYTES",
    "DamagedRecord",
    "JointPlayed",
    "ParsedRecord",
    "Record",
    "chain",
    "check_commitment_receipt",
    "check_final_receipt",
    "commitment_receipt",
    "final_receipt",
    "parse_record",
    "record_documents",
    "write_record",
]
