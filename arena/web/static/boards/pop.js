// POP!: five columns above their queue cards, the five cards of the turn above them, and what each seat holds and has collected.

import { back, h, item, label, pane, stage, starPath } from "./kit.js";

const COLUMNS = "ABCDE", LETTERS = "RYGBP";
const CLASSES = ["c-red", "c-yellow", "c-green", "c-blue", "c-purple"];
const CHIEF = -1;

const colour = (number) => (number - 1) % 5;
const arrow = (number) => number <= 10 || number >= 41;
const explosions = (number) => (number <= 5 || number >= 46 ? 3 : (number >= 16 && number <= 20) || (number >= 31 && number <= 35) ? 2 : 1);

/** A card: number, letter of its colour, its explosions, and an arrow if it has one. */
function face(number, width, height, doomed) {
  const bursts = explosions(number), size = height * (width < 70 ? 0.13 : 0.17), right = width / 2 - size * 1.5;
  return h("g", { class: `${CLASSES[colour(number)]} popcard${doomed ? " doomed" : ""}` },
    h("rect", { class: "skin", x: -width / 2, y: -height / 2, width, height, rx: 6 }),
    label(number, -width / 2 + width * 0.08, height * 0.08, { size: height * (width < 70 ? 0.43 : 0.48), kind: "on" }),
    label(LETTERS[colour(number)], -width / 2 + width * 0.11, height * 0.4, { size: height * 0.29, kind: "on" }),
    Array.from({ length: bursts }, (_, i) => h("path", { class: "star", transform: `translate(${right - i * size * 2.1} ${-height * 0.22})`, d: starPath(size, 8, 0.62) })),
    arrow(number) && h("path", { class: "arrow", transform: `translate(${right} ${height * 0.24}) scale(${height / 34})`, d: "M0 6V-5M-4 -1L0 -5.5L4 -1" }));
}

/** A card in a hand, small: number, letter, explosions as dots. */
function small(number, width, height) {
  return h("g", { class: CLASSES[colour(number)] },
    h("rect", { class: "skin", x: -width / 2, y: -height / 2, width, height, rx: 4 }),
    label(number, 0, -height * 0.05, { size: height * 0.36, anchor: "middle", kind: "on" }),
    label(`${LETTERS[colour(number)]}${arrow(number) ? "↑" : ""}`, 0, height * 0.23, { size: height * 0.24, anchor: "middle", kind: "on" }),
    Array.from({ length: explosions(number) }, (_, i) => h("circle", { class: "star", cx: (i - (explosions(number) - 1) / 2) * 6, cy: height * 0.37, r: 2 })));
}

export function draw(svg, frame, options) {
  const wide = options.width >= 760, width = options.width;
  const tableWide = wide ? Math.min(500, width * 0.46) : width;
  const step = tableWide / 5, cardWide = Math.min(step - 8, 84), cardTall = cardWide < 60 ? 34 : 38, row = cardTall + 4;
  const layout = { step, cardWide, cardTall, row, tableWide };
  const table = tableItems(frame, options, layout);
  const seats = { x: wide ? tableWide + 28 : 0, y: wide ? 0 : table.height + 14, width: wide ? width - tableWide - 28 : width };
  const side = seatItems(frame, options, seats);
  const height = wide ? Math.max(table.height, side.height) : seats.y + side.height;
  return stage(svg, { width, height, items: [...table.items, ...side.items] }, options);
}

/** The turn's cards on top, the columns below; within a turn as the scene says. */
function tableItems(frame, options, { step, cardWide, cardTall, row, tableWide }) {
  const { view, scene } = frame;
  const columns = scene ? scene.columns : view.columns, floors = scene ? scene.floors : [0, 0, 0, 0, 0];
  const doomed = new Set(scene ? scene.doomed : []);
  const rows = Math.max(cardWide < 60 ? 5 : 8, ...columns.map((cards, c) => cards.length + 1 - floors[c]));
  const top = 34, slotY = top + cardTall / 2 + 16, tableTop = slotY + cardTall / 2 + 14, base = tableTop + rows * row;
  const middle = (c) => step * (c + 0.5);
  const round = view.rounds > 1 ? `Round ${view.round} of ${view.rounds}, turn` : "Turn";
  const heading = view.phase === "over" ? "The match is over" : view.turn ? `${round} ${view.turn} of 8` : "Dealing";
  const pile = view.pile.length ? `Chief’s pile: ${view.pile.reduce((sum, number) => sum + explosions(number), 0)}` : "";
  const items = [
    item("heading", 0, 14, [heading, pile, tableWide], () => h("g", {}, label(heading, 4, 0, { size: 14, kind: "strong" }),
      pile && label(pile, tableWide - 4, 0, { size: 13, anchor: "end", kind: "accent" }))),
    item("yard", 0, tableTop - 6, [tableWide, base, row], () => h("rect", { class: "sky", width: tableWide, height: base + row + 30 - tableTop + 6, rx: 10 })),
  ];
  for (let c = 0; c < 5; c += 1) {
    items.push(item(`floor-${c}`, middle(c), base + (floors[c] + 0.42) * row, [cardWide], () => h("g", { class: "floor" },
      h("rect", { x: -cardWide / 2, y: -10, width: cardWide, height: 22, rx: 5 }), label(COLUMNS[c], 0, 6, { size: 13, anchor: "middle", kind: "strong" }))));
    columns[c].forEach((number, i) => items.push(item(`card-${number}`, middle(c), base + (floors[c] - i - 0.5) * row, ["face", cardWide, cardTall, doomed.has(number)],
      () => face(number, cardWide, cardTall, doomed.has(number)), { exit: "burst", enter: "drop" })));
  }
  items.push(...slotItems(frame, options, { middle, slotY, cardWide, cardTall }));
  return { items, height: base + row + 30 };
}

/** The cards of the turn that lie open and are not yet placed, with whose they are. */
function slotItems({ view, scene }, options, { middle, slotY, cardWide, cardTall }) {
  const owned = scene
    ? scene.slots.map((slot, at) => slot && { number: slot[0], owner: slot[1], at }).filter(Boolean)
    : [...view.chief.map((number) => ({ number, owner: CHIEF })), ...view.chosen.flatMap((cards, seat) => cards.map((number) => ({ number, owner: seat })))]
      .sort((one, other) => one.number - other.number).map((slot, i) => ({ ...slot, at: i }));
  const items = [];
  for (const { number, owner, at } of owned) {
    const whose = owner === CHIEF ? "Chief" : options.seats[owner].name;
    items.push(item(`owner-${number}`, middle(at), slotY - cardTall / 2 - 5, [whose, cardWide], () => label(whose, 0, 0, { size: 11, anchor: "middle", kind: "soft", width: cardWide })));
    items.push(item(`card-${number}`, middle(at), slotY, ["face", cardWide, cardTall, false], () => face(number, cardWide, cardTall, false), { enter: "grow", exit: "burst" }));
  }
  return items;
}

/** A pane for each seat: points, the hand as far as these eyes see it, what it has collected in this round. */
function seatItems(frame, options, { x, y, width }) {
  const { view } = frame, players = view.players, most = Math.max(...view.hand_sizes, 9);
  const step = Math.min(38, (width - 20) / most), tall = 94, items = [];
  const cardWide = step - 3, cardTall = 40;
  for (let seat = 0; seat < players; seat += 1) {
    const at = y + seat * (tall + 8), due = frame.due.includes(seat), name = options.seats[seat].name;
    const hand = view.left.length ? [view.left[seat]] : frame.private[seat]?.hand ?? null;
    const taken = view.taken[seat].length, points = view.points[seat];
    items.push(item(`pane-${seat}`, x, at, [width, tall, due], () => pane(width, tall, due ? "due" : "")));
    items.push(item(`head-${seat}`, x + 10, at + 20, [name, points, taken, width, view.left.length], () => h("g", {},
      label(name, 0, 0, { size: 13, kind: "strong", width: width - 190 }),
      label(view.left.length ? "the card left in hand" : taken ? `${taken} cards collected` : "nothing collected", width - 68, 0, { size: 12, anchor: "end", kind: "soft" }),
      h("path", { class: "blast", transform: `translate(${width - 54} -5)`, d: starPath(7, 8, 0.6) }),
      label(points, width - 20, 0, { size: 15, anchor: "end", kind: "strong" }))));
    const place = (i) => [x + 10 + step * (i + 0.5), at + 30 + cardTall / 2 + 8];
    if (hand) hand.forEach((number, i) => items.push(item(`card-${number}`, ...place(i), ["small", cardWide], () => small(number, cardWide, cardTall), {
      enter: "drop", acts: due ? (text) => /^play ([\d+]+)$/.exec(text)?.[1].split("+").includes(String(number)) : null, says: `play ${number}`,
    })));
    else for (let i = 0; i < view.hand_sizes[seat]; i += 1) items.push(item(`back-${seat}-${i}`, ...place(i), [cardWide], () => back(cardWide, cardTall), { exit: "none" }));
  }
  return { items, height: players * (tall + 8) - 8 };
}
