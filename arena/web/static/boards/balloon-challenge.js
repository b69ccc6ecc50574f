// Balloon Challenge: the balloon with what it holds and the chips above, then for each seat its hand and the cards it has laid, lap by lap.

import { back, chip, h, item, label, pane, signed, stage } from "./kit.js";

const VALUES = [8, 8, 8, 8, 8, 10], LETTERS = "RBWYGK";
const CLASSES = ["c-red", "c-blue", "c-water", "c-yellow", "c-grey", "c-black"];
const ROUNDS = 5, CARD_TALL = 44, CARD_WIDE = 32;
const START = VALUES.map((_, colour) => VALUES.slice(0, colour).reduce((sum, many) => sum + many, 0));

const colourOf = (number) => START.findLastIndex((first) => first <= number);
const valueOf = (number) => number - START[colourOf(number)];
const nameOf = (number) => `${LETTERS[colourOf(number)]}${valueOf(number)}`;
const volume = (cards) => cards.reduce((sum, number) => sum + valueOf(number), 0);

/** A card. Where cards overlap, its left edge says everything. */
function face(number) {
  const left = -CARD_WIDE / 2 + 7.5;
  return h("g", { class: CLASSES[colourOf(number)] },
    h("rect", { class: "skin", x: -CARD_WIDE / 2, y: -CARD_TALL / 2, width: CARD_WIDE, height: CARD_TALL, rx: 5 }),
    label(valueOf(number), left, -6, { size: 15, anchor: "middle", kind: "on" }),
    label(LETTERS[colourOf(number)], left, 6, { size: 10, anchor: "middle", kind: "on" }),
    h("path", { class: "bubble", transform: "translate(7.5 8)", d: "M0 -7C4 -7 6 -4 6 -1C6 3 3 5 .7 6.5h-1.4C-3 5 -6 3 -6 -1C-6 -4 -4 -7 0 -7z" }));
}

export function draw(svg, frame, options) {
  const { view } = frame, players = view.players, width = options.width;
  const across = width / players >= 190;
  const head = headItems(view, width);
  const place = across ? columnsFor(view, width, head.height) : rowsFor(view, width, head.height);
  const items = [...head.items, ...place.items];
  for (let seat = 0; seat < players; seat += 1) items.push(...seatItems(frame, options, seat, place));
  return stage(svg, { width, height: place.height, items }, options);
}

/** The balloon with the number of cards on the table, the pot, the chip put aside, and with two players row 0. */
function headItems(view, width) {
  const over = view.past.length === ROUNDS;
  const text = over ? "The end" : `Round ${view.round} of ${ROUNDS}`, lap = view.lap ? `lap ${view.lap}` : over ? "" : "dealing";
  const worth = view.round === ROUNDS ? 3 : 2;
  const narrow = width < 520, x = narrow ? 120 : width * 0.36;
  const items = [
    item("title", 0, 16, [text, lap, narrow], () => h("g", {}, label(text, 4, 4, { size: narrow ? 13 : 14, kind: "strong" }), label(lap, 4, 22, { size: 13, kind: "soft" }))),
    item("balloon", x + 12, 40, [view.size], () => h("g", {}, gasBalloon(view.size), label("size", 0, 52, { size: 11, anchor: "middle", kind: "soft" }))),
    item("pot", x + 66, 14, [view.pot, view.aside, worth, narrow], () => h("g", {},
      label(narrow ? `pot ${view.pot}, ${worth} a chip` : `pot ${view.pot}, a chip is ${worth} points`, 0, 4, { size: 12, kind: "soft" }),
      view.aside && label(narrow ? "first out" : "for the first to drop out", 26, 62, { size: 11, kind: "soft" }))),
  ];
  const step = Math.min(24, (width - x - 98) / Math.max(1, view.pot - 1));
  for (let i = 0; i < view.pot; i += 1) items.push(item(`pot-${i}`, x + 76 + i * step, 38, [], () => chip(10), { enter: "none" }));
  if (view.aside) items.push(item("aside", x + 76, 72, [], () => chip(9), { enter: "none" }));
  view.row0.forEach((number, i) => items.push(item(`card-${number}`, narrow ? 20 + i * 40 : width - 5 * 36 + i * 36 + 16, narrow ? 128 : 44, ["face"], () => face(number), { enter: "drop" })));
  if (view.row0.length) items.push(item("row0", narrow ? 4 : width - 5 * 36, narrow ? 102 : 14, [], () => label("row 0", 0, 0, { size: 11, kind: "soft" })));
  return { items, height: narrow && view.players === 2 ? 162 : 98 };
}

function gasBalloon(size) {
  return h("g", { class: "c-red" },
    h("path", { class: "skin", d: "M0 -36C20 -36 30 -22 30 -6C30 12 14 22 4 30h-8C-14 22 -30 12 -30 -6C-30 -22 -20 -36 0 -36z" }),
    h("path", { class: "shine", d: "M-18 -8A20 20 0 0 1 -6 -25", "stroke-width": 4 }),
    h("path", { class: "string", d: "M-4 30l2 6h4l2 -6" }),
    label(size, 0, 5, { size: 24, anchor: "middle", kind: "on" }));
}

/** Seats side by side, laps downwards. */
function columnsFor(view, width, top) {
  const gap = 10, players = view.players, wide = Math.min(300, (width - gap * (players - 1)) / players);
  const left = (width - wide * players - gap * (players - 1)) / 2, tall = 138, laps = 10;
  const x = (seat) => left + seat * (wide + gap), table = top + tall + 10, step = 33;
  const height = table + 16 + CARD_TALL + (laps - 1) * step;
  return {
    wide, tall, height,
    at: (seat) => [x(seat), top],
    laid: (seat, lap) => [x(seat) + wide / 2, table + 8 + CARD_TALL / 2 + lap * step],
    items: Array.from({ length: players }, (_, seat) => item(`lane-${seat}`, x(seat), table, [wide, height], () => h("g", {},
      h("rect", { class: "sky", width: wide, height: height - table, rx: 10 }),
      Array.from({ length: laps }, (__, lap) => label(lap + 1, wide / 2, 26 + lap * step, { size: 12, anchor: "middle", kind: "faint" }))))),
  };
}

/** Seats one below the other, laps to the right. */
function rowsFor(view, width, top) {
  const tall = 138, lane = CARD_TALL + 12, gap = 10, laps = 5 + view.round;
  const step = Math.min(36, (width - 12 - CARD_WIDE) / (laps - 1)), y = (seat) => top + seat * (tall + 4 + lane + gap);
  return {
    wide: width, tall, height: y(view.players) - gap,
    at: (seat) => [0, y(seat)],
    laid: (seat, lap) => [6 + CARD_WIDE / 2 + lap * step, y(seat) + tall + 4 + lane / 2],
    items: Array.from({ length: view.players }, (_, seat) => item(`lane-${seat}`, 0, y(seat) + tall + 4, [width, laps], () => h("g", {},
      h("rect", { class: "sky", width, height: lane, rx: 10 }),
      Array.from({ length: laps }, (__, lap) => label(lap + 1, 6 + CARD_WIDE / 2 + lap * step, lane / 2 + 4, { size: 12, anchor: "middle", kind: "faint" }))))),
  };
}

function seatItems(frame, options, seat, { wide, tall, at, laid }) {
  const { view } = frame, [x, y] = at(seat), due = frame.due.includes(seat), over = view.past.length === ROUNDS;
  const hand = over ? view.past[ROUNDS - 1].hands[seat] : frame.private[seat]?.hand ?? null;
  const state = hand && (hand.length || over) ? `air ${volume(hand)}` : `${view.hand_sizes[seat]} cards`;
  const burst = hand !== null && over && volume(hand) > view.size;
  const items = [
    item(`pane-${seat}`, x, y, [wide, tall, due], () => pane(wide, tall, due ? "due" : "")),
    item(`head-${seat}`, x + 10, y + 20, [options.seats[seat].name, view.totals[seat], wide], () => h("g", {},
      label(options.seats[seat].name, 0, 0, { size: 13, kind: "strong", width: wide - 62 }),
      label(signed(view.totals[seat]), wide - 20, 0, { size: 15, anchor: "end", kind: "strong" }))),
    item(`state-${seat}`, x + 10, y + 94, [state, burst, view.out[seat], over, wide], () => h("g", {},
      label(burst ? `${state}: burst` : state, 0, 0, { size: 12, kind: burst ? "bad" : "soft" }),
      view.out[seat] && !over && label("dropped out", wide - 20, 0, { size: 12, anchor: "end", kind: "accent" }))),
    ...pastItems(view, seat, x, y, wide),
  ];
  if (due && options.choose && options.legal.includes("drop")) items.push(item(`drop-${seat}`, x + wide - 44, y + 89, [], () => h("g", {},
    h("rect", { class: "pane", x: -36, y: -12, width: 72, height: 24, rx: 12 }), label("drop out", 0, 4, { size: 12, anchor: "middle", kind: "accent" })),
  { acts: (text) => text === "drop", says: "drop out" }));
  for (let i = 0; i < view.chips[seat]; i += 1) items.push(item(`chip-${seat}-${i}`, x + (burst ? 104 : 76) + i * Math.min(15, (wide - 170) / 6), y + 90, [], () => chip(7), { enter: "grow" }));
  const count = hand ? hand.length : view.hand_sizes[seat];
  const step = Math.min(CARD_WIDE + 3, (wide - 16 - CARD_WIDE) / Math.max(1, count - 1));
  const held = (i) => [x + 8 + CARD_WIDE / 2 + i * step, y + 32 + CARD_TALL / 2];
  if (hand) hand.forEach((number, i) => items.push(item(`card-${number}`, ...held(i), ["face"], () => face(number), {
    enter: "drop", acts: due ? (text) => text === `play ${nameOf(number)}` : null, says: `play ${nameOf(number)}`,
  })));
  else for (let i = 0; i < count; i += 1) items.push(item(`back-${seat}-${i}`, ...held(i), [], () => back(CARD_WIDE, CARD_TALL), { enter: "none", exit: "none" }));
  view.rows[seat].forEach((number, lap) => items.push(item(`card-${number}`, ...laid(seat, lap), ["face"], () => face(number), { enter: "drop" })));
  return items;
}

/** The points of the rounds so far: exact ones with a ring, burst ones struck out. */
function pastItems(view, seat, x, y, wide) {
  const step = (wide - 20) / ROUNDS;
  return Array.from({ length: ROUNDS }, (_, round) => {
    const past = view.past[round], full = past ? volume(past.hands[seat]) : 0;
    const kind = !past ? "open" : full > past.size ? "burst" : full === past.size ? "exact" : "";
    return item(`past-${seat}-${round}`, x + 10 + step * (round + 0.5), y + 120, [past?.points[seat] ?? null, kind, step], () => h("g", { class: `past ${kind}` },
      h("rect", { x: -step / 2 + 2, y: -13, width: step - 4, height: 24, rx: 6 }),
      label(past ? past.points[seat] : "·", 0, 4, { size: 13, anchor: "middle" }),
      past && label(kind === "burst" ? "!" : kind === "exact" ? "=" : "", step / 2 - 7, -3, { size: 10, anchor: "middle", kind: "soft" })));
  });
}
