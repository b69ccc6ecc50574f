"""{{name}} plays {{game}}."""

import botarena


def value(view: botarena.View, action: botarena.Action) -> float:
    """What an action is worth. This is yours to write: ``view.json`` is the position as your seat knows it,
    ``action.text`` what could be played."""
    return 0.0


@botarena.bot("{{game}}")
def act(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
    """Called whenever there is a choice: plays an action of the greatest value, one of several at random."""
    values = [value(view, action) for action in legal]
    best = max(values)
    return view.rng.choice([action for action, worth in zip(legal, values, strict=True) if worth == best])


if __name__ == "__main__":
    botarena.run(act)
