"""Any game by any language model: shows the position as text and takes the first legal action in the answer.

The model is a command that reads a prompt from its standard input and writes its answer:

    LLM_COMMAND="llm -m some-model" arena match bots/python/examples/text_bot.py random --move-cap-ms 60000 --bank-ms 600000
"""

import os
import shlex
import subprocess

import botarena

PROMPT = """You play {game} at seat {seat} of {players}. This is what you see:

{position}

Your legal actions, one a line:
{actions}

Think if you must, then write your action on the last line, exactly as it stands above.
"""


def ask(prompt: str, timeout_s: float) -> str:
    """The model's answer; empty if it takes too long."""
    command = shlex.split(os.environ["LLM_COMMAND"])
    try:
        done = subprocess.run(command, input=prompt, capture_output=True, text=True, timeout=timeout_s, check=True)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


@botarena.bot(text=True)
def act(view: botarena.View, legal: botarena.Legal, clock: botarena.Clock) -> botarena.Answer:
    """The last line of the answer that is a legal action; else the arena's default, with a comment that says so."""
    actions = "\n".join(legal.texts)
    prompt = PROMPT.format(
        game=view.game, seat=view.seat, players=view.match.players, position=view.text, actions=actions
    )
    answer = ask(prompt, timeout_s=0.9 * clock.left_ms / 1000)
    for line in reversed(answer.splitlines()):
        if line.strip() in legal.texts:
            return line.strip(), answer[:1000]
    return legal.default, f"no legal action in the answer: {answer[:200]!r}"


if __name__ == "__main__":
    botarena.run(act)
