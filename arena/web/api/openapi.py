"""The OpenAPI document, made of the operations and the types that they answer."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from arena.web.api.answers import Problem
from arena.web.api.posting import MOST_INTEGER, WORD, Command
from arena.web.api.serving import PREFIX, PROBLEM, TITLES, Operation, Parameter
from arena.web.content import JSON

VERSION: Final = "1.0.0"
_PLAIN: Final = {str: {"type": "string"}, bool: {"type": "boolean"}, float: {"type": "number"}}
_ABOUT: Final = """All that the pages show, without login; and, for whoever shows a token of an account, challenges, trials and
the retirement of versions. Nothing is told of a match before it is over, nor of a set with a
shared deal before all of it is. Lists have a cursor; answers have an ETag. Times are ms since 1970. Further members may
be added to any object."""


def document(operations: Sequence[Operation], commands: Sequence[Command]) -> dict[str, Any]:
    """The document."""
    schemas: dict[str, Any] = {}
    paths = {PREFIX + one.path: {"get": _operation(one, schemas)} for one in operations}
    paths |= {PREFIX + one.path: {"post": _command(one, schemas)} for one in commands}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Bot Arena", "version": VERSION, "description": " ".join(_ABOUT.split())},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    refusals = [400, 429, 503] + [404] * any(one.where == "path" or one.name == "bot" for one in operation.parameters)
    told = {str(status): _response(TITLES[status], Problem, PROBLEM, schemas) for status in sorted(refusals)}
    return {
        "operationId": operation.make.__name__,
        "summary": inspect.getdoc(operation.make),
        "parameters": [_parameter(one) for one in operation.parameters],
        "responses": {
            "200": _response(inspect.getdoc(operation.answer) or "", operation.answer, JSON, schemas),
            "304": {"description": "What If-None-Match named is still so."},
            **told,
        },
    }


def _command(command: Command, schemas: dict[str, Any]) -> dict[str, Any]:
    told = {
        str(status): _response(TITLES[status], Problem, PROBLEM, schemas) for status in (400, 401, 404, 409, 429, 503)
    }
    needed = _body(command.body, schemas)
    return {
        "operationId": command.do.__name__,
        "summary": inspect.getdoc(command.do),
        "security": [{"token": []}],
        "parameters": [_parameter(one) for one in command.parameters],
        "requestBody": {"required": bool(needed.get("required")), "content": {JSON: {"schema": needed}}},
        "responses": {
            "200": _response(inspect.getdoc(command.answer) or "", command.answer, JSON, schemas),
            **told,
        },
    }


def _body(kind: type, schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema of what a command takes; members with a default may be left out."""
    hints = get_type_hints(kind)
    schema: dict[str, Any] = {
        "type": "object",
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "properties": {one.name: _bounded(schema_of(hints[one.name], schemas)) for one in fields(kind)},
        "additionalProperties": False,
    }
    if required := [one.name for one in fields(kind) if one.default is MISSING]:
        schema["required"] = required
    return schema


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """With what a member of a body has to fit beyond its type."""
    match schema.get("type"):
        case "string":
            return {**schema, "pattern": f"^(?:{WORD})$"}
        case "integer":
            return {**schema, "minimum": -MOST_INTEGER, "maximum": MOST_INTEGER}
        case "array":
            return {**schema, "items": _bounded(schema["items"])}
        case None:
            return {"anyOf": [_bounded(one) for one in schema["anyOf"]]}
    return schema


def _parameter(one: Parameter) -> dict[str, Any]:
    if one.pattern:
        schema: dict[str, Any] = {"type": "string", "pattern": f"^(?:{one.pattern})$"}
    else:
        schema = {"type": "integer", "minimum": one.low, "maximum": one.high}
    return {
        "name": one.name,
        "in": one.where,
        "required": one.where == "path",
        "description": one.text,
        "schema": schema,
    }


def _response(text: str, kind: type, media: str, schemas: dict[str, Any]) -> dict[str, Any]:
    return {"description": " ".join(text.split()), "content": {media: {"schema": schema_of(kind, schemas)}}}


def schema_of(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a type; dataclasses are put into ``schemas`` and referred to."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if kind is int:
        return {"type": "integer", "format": "int64"}
    if kind is type(None):
        return {"type": "null"}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"type": "string", "enum": [str(one) for one in kind]}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return {"anyOf": [schema_of(one, schemas) for one in arguments]}
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": schema_of(arguments[0], schemas)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], schemas)}
    if is_dataclass(kind) and isinstance(kind, type):
        if kind.__name__ not in schemas:
            schemas[kind.__name__] = {}  # it may refer to itself
            hints = get_type_hints(kind)
            schemas[kind.__name__] = {
                "type": "object",
                "description": " ".join((inspect.getdoc(kind) or "").split()),
                "properties": {one.name: schema_of(hints[one.name], schemas) for one in fields(kind)},
                "required": [one.name for one in fields(kind)],
            }
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    raise TypeError(f"no JSON Schema for {kind}")
