/** {{name}} plays {{game}}. */

import { type Answer, type Clock, type Legal, run, type View } from "botarena";

/** Is asked whenever there is a choice: `view` is the position as your seat knows it, `legal` is what you may do. */
function act(view: View, legal: Legal, clock: Clock): Answer {
  return legal[Math.floor(view.random() * legal.length)]!;
}

run({ games: ["{{game}}"], typedActions: true, act });
