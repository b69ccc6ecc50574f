// What a person is asked, and actions whose canonical texts are short for programs, in words. What is not here is shown as it is.

const LETTERS = "RGYPB";
const SETS = { r: "red set", g: "green set", b: "blue set", y: "yellow set", w: "neutral set", "*": "set of symbols" };
const ORDINALS = { 1: "1st", 2: "2nd", 3: "3rd", 4: "4th" };

const GAMES = {
  "balloon-challenge": { play: "Play a card", drop: "Drop out" },
  "balloon-pop": {
    card: "Choose a card for this round", group: "Take a group", pop: "Which set pops first?", V: "Hang up your group", H: "Hang up your group",
    words(text) {
      const hang = /^([VH])(\d)(r?)(?:-(\d))?$/.exec(text);
      if (hang) {
        const [, way, column, turned, without] = hang;
        return [way === "V" ? `down in column ${column}` : `across from column ${column}`, turned && "turned round", without && `without the ${ORDINALS[without]}`].filter(Boolean).join(", ");
      }
      const pop = /^pop (.)@(\d),(\d)$/.exec(text);
      return pop ? `${SETS[pop[1]]} at column ${pop[2]}, row ${pop[3]}` : text;
    },
  },
  "balloon-race": {
    assign: "Lay a die on each balloon, and choose the direction", to: "Where does the balloon with the 6 go?", put: "Where does the new obstacle go?", move: "Move an obstacle",
    words(text) {
      const dice = /^assign (\d{5})([<>])$/.exec(text);
      if (dice) return `${[...dice[1]].map((value, i) => LETTERS[i] + value).join(" ")}, ${dice[2] === ">" ? "R first" : "B first"}`;
      const move = /^move (-?\d+,-?\d+)-(-?\d+,-?\d+)$/.exec(text);
      return move ? `from ${move[1]} to ${move[2]}` : text;
    },
  },
  pop: { play: "Play a card" },
};

/** What these legal actions ask of somebody. */
export function question(game, legal) {
  const verb = /^[a-z]+|^[A-Z]/.exec(legal[0] ?? "")?.[0];
  if (game === "pop" && legal[0]?.includes("+")) return "Play two cards";
  return GAMES[game]?.[verb] ?? "Your choice";
}

/** An action in words. */
export function phrase(game, text) {
  return GAMES[game]?.words?.(text) ?? text;
}
