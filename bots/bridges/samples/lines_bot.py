"""A program without any library that speaks lines of JSON. For Balloon Challenge; the same idea as in kaggle_agent.py.

arena match "python -m botarena.bridges.jsonlines -- python bots/bridges/samples/lines_bot.py" random
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] != "act":
        continue
    plays = [action for action in message["legal"] if action["text"].startswith("play")]
    volume = sum(int(action["text"][-1]) for action in plays)
    if volume <= message["view"]["size"]:
        answer = {"action": "drop", "comment": f"{volume} fits"}
    else:
        answer = {"action": max(plays, key=lambda action: int(action["text"][-1]))["id"]}
    print(json.dumps(answer), flush=True)
