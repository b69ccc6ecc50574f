/** A bot that computes for two seconds without a pause; in a game called "fails" it throws. */

import { run } from "botarena";

run({
  act: (view) => {
    if (view.match.gameId === "fails") throw new Error("oops");
    const end = Date.now() + 2000;
    while (Date.now() < end);
    return "b";
  },
});
