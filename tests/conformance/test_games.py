"""Every registered game passes the conformance kit at each number of players and with each option."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import engines
from engines.conformance import CHECKS, Case, Check, cases


def all_cases() -> Iterator[Case]:
    for name in engines.names():
        yield from cases(engines.get(name))


@pytest.mark.parametrize("case", list(all_cases()), ids=str)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_game_conforms(check: Check, case: Case) -> None:
    """The game keeps this part of the contract."""
    check(case)
