"""tournament.toml: what it says, and what is said when it is wrong."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.errors import UserError
from arena.match.spec import TimeControl
from arena.tournaments.formats.swiss import Swiss
from arena.tournaments.spec import FinalSpec, ListedBot, TournamentSpec, parse

PATH = Path("cup.toml")
FULL = """\
name = "Autumn Cup"
format = "swiss"
rounds = 5
sets = 2
deals = "shared"
tie_breaks = ["buchholz", "wins"]
start = 2027-01-31T18:00:00Z

[[games]]
game = "balloon-challenge"
players = 2

[[games]]
game = "pop"
players = 2
config = { rounds = 3 }

[field]
bots = ["random", "greedy", { name = "mine", program = "python3 mine.py", team = "red" }, "bots/other.py"]

[time_control]
bank_ms = 5000

[budget]
sets = 100
minutes = 90

[final]
top = 3
certainty = 0.9

[publication]
results = "public"
final = "hidden"

[eligibility]
one_per = "team"

[absence]
wait_s = 30
"""
SMALL = """\
format = "{format}"
[[games]]
game = "balloon-challenge"
players = {players}
[field]
bots = ["random", "greedy"]
"""


def test_everything_that_can_be_said() -> None:
    """Each key lands where it belongs; what is left out has its default."""
    spec = parse(FULL, PATH)
    assert (spec.slug, spec.name, spec.rounds, spec.sets, spec.sets_a_pairing) == ("autumn-cup", "Autumn Cup", 5, 2, 4)
    assert [game.game for game in spec.games] == ["balloon-challenge", "pop"]
    assert spec.games[1].config["rounds"] == 3
    assert spec.entry.bots[2:] == (ListedBot("mine", "python3 mine.py", "red"), ListedBot("other", "bots/other.py"))
    assert spec.time_control == TimeControl(bank_ms=5000)
    assert spec.start == datetime(2027, 1, 31, 18, tzinfo=UTC)
    assert spec.final == FinalSpec(3, 1, 0.9, 200)
    assert (spec.publication.main, spec.publication.final) == ("public", "hidden")
    assert (spec.absence.wait_s, spec.absence.missed) == (30, 2)
    assert spec.form(10) == Swiss(5)


def test_the_smallest_file() -> None:
    """Format, game and field are enough; the name is the file's, rounds follow from the field."""
    spec: TournamentSpec = parse(SMALL.format(format="swiss", players=2), PATH)
    assert (spec.slug, spec.deals, spec.budget.sets, spec.final) == ("cup", "own", 0, None)
    assert spec.form(8) == Swiss(3)
    assert parse(SMALL.format(format="tables", players=4), PATH).scoring == "score"


@pytest.mark.parametrize(
    ("replaced", "by", "said"),
    [
        (
            'format = "swiss"',
            'format = "swis"',
            r"cup.toml, line 2, key format: 'swis' is none of .*did you mean 'swiss'",
        ),
        ("rounds = 5", 'rounds = "5"', "line 3, key rounds: a whole number is needed, not '5'"),
        ("rounds = 5", "rounds = 0", "line 3, key rounds: a whole number from 1 to 1000 is needed, not 0"),
        ("sets = 2\n", "set = 2\n", r"line 4, key set: there is no such key; .*did you mean 'sets'"),
        ('"wins"]', '"luck"]', "line 6, key tie_breaks: 'luck' is no tie-break; there are: head-to-head"),
        ("18:00:00Z", "18:00:00", "line 7, key start: say the time zone too"),
        ('game = "pop"', 'game = "chess"', r"line 14, key games.2.game: .*chess"),
        ("rounds = 3", "rounds = 99", "line 13, key games.2: .*rounds"),
        ('"pop"\nplayers = 2', '"pop"\nplayers = 3', "line 13, key games.2: 3 players here and 2 in the first"),
        ('"greedy", {', '"random", {', "line 19, key field.bots: 'random' is there twice"),
        ('team = "red"', 'colour = "red"', "line 19, key field.bots: a bot has name, program and team, not 'colour'"),
        ("[field]\nbots", '[field]\nladder = "x"\nbots', 'line 18, key field: one of ladder = "...", bots = '),
        ("certainty = 0.9", "certainty = 95", "line 30, key final.certainty: a probability over 0.5 and under 1"),
        (
            'final = "hidden"',
            'final = "secret"',
            "line 34, key publication.final: 'secret' is none of hidden, participants",
        ),
        ("bank_ms = 5000", "bank_ms = true", "line 22, key time_control.bank_ms: a whole number is needed, not True"),
        ("[budget]", "[budgets]", r"line 24, key budgets: there is no such key; .*did you mean 'budget'"),
        ("sets = 2\n", 'challenger = "zed"\n', "line 4, key challenger: 'zed' is not in the field: random"),
        ("sets = 100", "sets = 0", "line 25, key budget.sets: a whole number from 1 to 1000000000 is needed, not 0"),
        ("minutes = 90", "minutes = 0", "line 26, key budget.minutes: a whole number from 1 to"),
        ("sets = 2\n", "concurrency = 0\n", "line 4, key concurrency: a whole number from 1 to 1000 is needed, not 0"),
        (
            "top = 3",
            "top = 5",
            "line 29, key final.top: a final of 5 needs as many bots, and the field has 4: lower top",
        ),
        ("rounds = 5", "rounds = ", r"cup.toml: not valid TOML: .*line 3"),
    ],
)
def test_errors_name_line_and_key(replaced: str, by: str, said: str) -> None:
    """What is wrong is told with file, line, key, and what would be right."""
    assert replaced in FULL
    with pytest.raises(UserError, match=said):
        parse(FULL.replace(replaced, by, 1), PATH)


def test_format_and_seats_must_fit() -> None:
    """Tables need three seats or more, the others two; rounds belong to Swiss and tables."""
    with pytest.raises(UserError, match="line 1, key format: tables are for games of three seats or more"):
        parse(SMALL.format(format="tables", players=2), PATH)
    with pytest.raises(UserError, match="line 1, key format: round-robin pairs two at a time"):
        parse(SMALL.format(format="round-robin", players=3), PATH)
    with pytest.raises(UserError, match="line 2, key rounds: the number of rounds of a gauntlet follows"):
        parse(SMALL.format(format="gauntlet", players=2).replace("\n", "\nrounds = 3\n", 1), PATH)
    with pytest.raises(UserError, match="needed: one of round-robin"):
        parse(SMALL.format(format="x", players=2).replace('format = "x"\n', ""), PATH)
    with pytest.raises(UserError, match="cannot play 5 rounds"):
        parse(FULL, PATH).form(4)


DOCUMENT = Path(__file__).parents[2] / "docs" / "tournaments.md"


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL))
def test_documents_files_are_valid(text: str) -> None:
    """Each file that docs/tournaments.md shows can be read."""
    assert parse(text, PATH).games


def test_document_names_every_key() -> None:
    """docs/tournaments.md says something of each key of the file."""
    known = {one.name for one in fields(TournamentSpec)} - {"entry", "time_control", "eligibility", "publication"}
    text = DOCUMENT.read_text()
    for name in (known - {"budget", "final", "absence", "games"}) | {
        "[field]",
        "[budget]",
        "[final]",
        "[absence]",
        "[[games]]",
    }:
        assert f"`{name}`" in text, name
