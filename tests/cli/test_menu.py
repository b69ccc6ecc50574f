"""What a person may type for an action."""

from __future__ import annotations

from arena.cli.menu import SHOWN, Menu, folded

CARDS = Menu({4: "play R3", 7: "play R30", 9: "play W1", 50: "drop"})
NUMBERS = Menu({0: "play 6", 5: "play 17", 6: "play 18"})


def test_texts_numbers_and_beginnings():
    """An exact text wins over a beginning; without the verb, by number, and in any case of letters it is found too."""
    assert CARDS.find("play R3") == [4]
    assert CARDS.find("R3") == [4]
    assert CARDS.find("  play   R30 ") == [7]
    assert CARDS.find("r30") == [7]
    assert CARDS.find("w") == [9]
    assert CARDS.find("d") == [50]
    assert CARDS.find("2") == [7]
    assert CARDS.find("play r") == [4, 7]
    assert CARDS.find("5") == []
    assert CARDS.find("fold") == []
    assert CARDS.find("") == [4, 7, 9, 50]


def test_a_number_that_is_a_card_is_no_place_in_the_list():
    """Where actions are named by numbers, these are what a number means, and the list has none of its own."""
    assert not NUMBERS.numbered
    assert NUMBERS.find("6") == [0]
    assert NUMBERS.find("17") == [5]
    assert NUMBERS.find("1") == [5, 6]
    assert NUMBERS.find("2") == []
    assert list(NUMBERS.lines(80)) == ["play    6    17   18"]


def test_the_list():
    """It has a paragraph for each verb, fits the width, and numbers go on through it."""
    assert list(CARDS.lines(80)) == ["play    1) R3    2) R30   3) W1", "drop    4) drop"]
    lines = list(CARDS.lines(20))
    assert lines == ["play    1) R3", "        2) R30", "        3) W1", "drop    4) drop"]
    assert list(CARDS.lines(80, only=[7, 50])) == ["play    2) R30", "drop    4) drop"]


def test_a_long_list_is_cut():
    """It says how many more there are; asked for all it shows all."""
    menu = Menu({number: f"move {number},0" for number in range(100)})
    short = "\n".join(menu.lines(100))
    assert f"{SHOWN}) {SHOWN - 1},0" in short
    assert "99,0" not in short
    assert "40 more" in short
    assert "100) 99,0" in "\n".join(menu.lines(100, menu.find("")))


def test_folded():
    """What comes again is counted, and lines are no longer than the width."""
    assert folded(["deal ?", "deal 7", "deal ?"], 80) == "deal ? (2 times), deal 7"
    assert all(len(line) <= 30 for line in folded([f"draw {n}" for n in range(40)], 30).splitlines())
