// Wyścig balonów: the board of 15 x 15 squares, the movement template with its dice, and what each seat has.

import { back, balloon, h, item, label, memory, pane, signed, stage, starPath } from "./kit.js";

const SIZE = 15, LETTERS = "RGYPB", ORDER = ["", "first", "second", "third", "last"];
const CLASSES = ["c-red", "c-green", "c-yellow", "c-pink", "c-blue"];
const START = [5, 9], FRAME = [4, 10], LANDING = 14;
const PIPS = { 1: [[0, 0]], 2: [[-1, -1], [1, 1]], 3: [[-1, -1], [0, 0], [1, 1]], 4: [[-1, -1], [1, -1], [-1, 1], [1, 1]], 5: [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]], 6: [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]] };
const WAYS = { 1: [0, -1], 2: [1, -1], 3: [1, 0], 4: [1, 1], 5: [0, 1] };

const rowOf = (square) => Math.floor(square / SIZE), columnOf = (square) => square % SIZE;
const name = (square) => `${rowOf(square)},${columnOf(square)}`;

export function draw(svg, frame, options) {
  const width = options.width, wide = width >= 760;
  const cell = (wide ? Math.min(600, width * 0.56) : width) / SIZE, board = cell * SIZE;
  const side = { x: wide ? board + 28 : 0, y: wide ? 0 : board + 14, width: wide ? width - board - 28 : width };
  const panel = sideItems(frame, options, side);
  const items = [...boardItems(svg, frame, cell), ...targets(frame, options, cell), ...panel.items];
  return stage(svg, { width, height: (wide ? Math.max(board, panel.height) : side.y + panel.height), items }, options);
}

const at = (square, cell) => [(columnOf(square) + 0.5) * cell, (rowOf(square) + 0.5) * cell];

function boardItems(svg, frame, cell) {
  const { view } = frame, r = cell * 0.47;
  const items = [item("board", 0, 0, [cell, view.pad, view.zone], () => ground(view, cell))];
  for (const square of view.mail) items.push(item(`mail-${square}`, ...at(square, cell), [cell], () => mail(cell * 0.32), { exit: "burst" }));
  const ids = obstacleIds(svg, view);
  view.obstacles.forEach(([square, value], i) => items.push(item(`obstacle-${ids[i]}`, ...at(square, cell), [value, cell, view.moved.includes(square)],
    () => cloud(value, r, view.moved.includes(square)), { enter: "grow", acts: (text) => text.startsWith(`move ${name(square)}-`), says: `move the obstacle at ${name(square)}` })));
  const order = flying(frame);
  view.balloons.forEach((square, colour) => {
    if (square < 0) return;
    const waits = view.phase === "to" && view.waiting[0] === colour;
    items.push(item(`balloon-${colour}`, ...at(square, cell), [cell, waits], () => h("g", {},
      waits && h("circle", { class: "halo", r: r * 1.25 }), balloon(CLASSES[colour], LETTERS[colour], r)),
    { enter: "drop", delay: Math.max(0, order.indexOf(colour)) * 0.55 }));
  });
  return items;
}

/** Colours in the order in which this event moved them: they fly one after the other. */
function flying(frame) {
  const found = /^assign \d{5}([<>])/.exec(frame.said[0] ?? "");
  if (!found) return [];
  return found[1] === ">" ? [0, 1, 2, 3, 4] : [4, 3, 2, 1, 0];
}

function ground(view, cell) {
  const whole = cell * SIZE, lines = [];
  for (let i = 1; i < SIZE; i += 1) lines.push(`M0 ${i * cell}H${whole}M${i * cell} 0V${whole}`);
  const [from, to] = FRAME;
  return h("g", {},
    h("rect", { class: "sky", width: whole, height: whole, rx: 8 }),
    h("rect", { class: "tile", x: START[0] * cell, y: 0, width: (START[1] - START[0] + 1) * cell, height: cell }),
    view.pad >= 0 && h("rect", { class: "pad", x: view.pad * cell, y: LANDING * cell, width: 5 * cell, height: cell }),
    h("path", { class: "rule", d: lines.join("") }),
    h("rect", { class: "frame", x: from * cell, y: from * cell, width: (to - from + 1) * cell, height: (to - from + 1) * cell, rx: 4 }),
    h("rect", { class: "frame inner", x: (from + 1) * cell, y: (from + 1) * cell, width: (to - from - 1) * cell, height: (to - from - 1) * cell, rx: 3 }),
    label("START", (START[0] + 2.5) * cell, cell * 0.66, { size: cell * 0.42, anchor: "middle", kind: "faint" }),
    view.zone >= 0 && h("path", { class: "zone", transform: `translate(${(view.zone + 0.5) * cell} ${(LANDING + 0.5) * cell})`, d: starPath(cell * 0.4) }));
}

function mail(r) {
  return h("g", { class: "mail" },
    h("rect", { x: -r, y: -r * 0.7, width: r * 2, height: r * 1.4, rx: r * 0.15 }), h("path", { d: `M${-r} ${-r * 0.6}L0 ${r * 0.2}L${r} ${-r * 0.6}` }));
}

function cloud(value, r, moved) {
  return h("g", { class: `cloud${moved ? " moved" : ""}` },
    h("path", { d: `M${-r * 0.55} ${r * 0.6}A${r * 0.42} ${r * 0.42} 0 0 1 ${-r * 0.62} ${-r * 0.2}A${r * 0.5} ${r * 0.5} 0 0 1 ${r * 0.3} ${-r * 0.5}A${r * 0.45} ${r * 0.45} 0 0 1 ${r * 0.6} ${r * 0.6}z` }),
    label(value, 0, r * 0.42, { size: r * 1.05, anchor: "middle" }));
}

/** Obstacles have no names; the one that is gone from one square is the one that is new on another. */
function obstacleIds(svg, view) {
  const mind = memory(svg);
  const before = mind.obstacles ?? [], free = before.filter(([square, value]) => !view.obstacles.some((now) => now[0] === square && now[1] === value));
  mind.next ??= 0;
  const named = view.obstacles.map(([square, value]) => {
    const same = before.find((old) => old[0] === square && old[1] === value);
    if (same) return [square, value, same[2]];
    const moved = free.findIndex((old) => old[1] === value);
    if (moved >= 0) return [square, value, free.splice(moved, 1)[0][2]];
    mind.next += 1;
    return [square, value, mind.next];
  });
  mind.obstacles = named;
  return named.map(([, , id]) => id);
}

/** Squares that a legal action names as where something goes. */
function targets(frame, { choose, legal = [] }, cell) {
  if (!choose) return [];
  const items = [];
  for (let square = 0; square < SIZE * SIZE; square += 1) {
    const ends = [`put ${name(square)}`, `to ${name(square)}`], tail = `-${name(square)}`;
    const acts = (text) => ends.includes(text) || (text.startsWith("move ") && text.endsWith(tail));
    if (legal.some(acts)) items.push(item(`target-${square}`, ...at(square, cell), [cell], () => h("rect", { class: "target", x: -cell / 2, y: -cell / 2, width: cell, height: cell }), { acts, says: `square ${name(square)}` }));
  }
  return items;
}

function sideItems(frame, options, { x, y, width }) {
  const { view } = frame;
  const what = view.phase === "over" ? "The race is over" : `Round ${view.round} of 5`;
  const items = [item("round", x, y + 16, [what, view.drawn, width], () => h("g", {}, label(what, 2, 0, { size: 14, kind: "strong" }),
    view.drawn > 0 && label("new obstacle", width - 40, 0, { size: 12, anchor: "end", kind: "soft" })))];
  if (view.drawn > 0) items.push(item("drawn", x + width - 20, y + 12, [view.drawn], () => cloud(view.drawn, 15, false), { enter: "grow" }));
  const dice = diceItems(frame, options, { x, y: y + 30, width });
  items.push(...dice.items);
  const tall = 76, top = y + 30 + dice.height + 10;
  for (let seat = 0; seat < view.players; seat += 1) items.push(...seatItems(frame, options, seat, { x, y: top + seat * (tall + 8), width, tall }));
  return { items, height: top - y + view.players * (tall + 8) - 8 };
}

/** The template: a balloon of each colour and the die that is laid on it; before that the dice as thrown. */
function diceItems(frame, { choose, legal = [] }, { x, y, width }) {
  const { view } = frame, step = Math.min(62, width / 5), left = x + (width - step * 5) / 2;
  const thrown = view.phase === "assign", choosing = thrown && choose !== undefined && choose !== null;
  const tall = choosing ? 190 : 96;
  const items = [item("template", x, y, [width, tall], () => pane(width, tall))];
  for (let colour = 0; colour < 5; colour += 1) {
    const middle = left + step * (colour + 0.5), waits = view.waiting.includes(colour);
    items.push(item(`slot-${colour}`, middle, y + 24, [waits], () => h("g", {}, waits && h("circle", { class: "halo", r: 19 }), balloon(CLASSES[colour], LETTERS[colour], 15))));
    const die = view.dice[colour];
    if (die) items.push(item(`die-${colour}`, middle, y + 66, [die, thrown], () => dieFace(die, 17, thrown ? "" : "laid"), { enter: "grow" }));
    if (choosing) for (const [i, value] of [...new Set(view.dice)].entries()) {
      items.push(item(`lay-${colour}-${value}`, middle, y + 100 + i * 16, [value], () => h("g", {}, h("rect", { class: "target", x: -20, y: -8, width: 40, height: 15, rx: 4 }), label(value, 0, 4, { size: 12, anchor: "middle" })),
        { acts: (text) => text.startsWith("assign ") && text[7 + colour] === String(value), says: `die ${value} on ${LETTERS[colour]}` }));
    }
  }
  if (choosing) for (const [i, way] of ["<", ">"].entries()) {
    if (legal.some((text) => text.endsWith(way))) items.push(item(`way-${way}`, left + step * (i ? 4 : 1), y + 182, [way], () => label(way === ">" ? "R → B" : "B → R", 0, 0, { size: 13, anchor: "middle", kind: "accent" }), { acts: (text) => text.endsWith(way), says: way === ">" ? "left to right" : "right to left" }));
  }
  return { items, height: tall };
}

/** A die: pips, and where it sends a balloon. */
function dieFace(value, r, kind) {
  const way = WAYS[value];
  return h("g", { class: `die ${kind}` },
    h("rect", { x: -r, y: -r, width: r * 2, height: r * 2, rx: r * 0.3 }),
    PIPS[value].map(([px, py]) => h("circle", { cx: px * r * 0.5, cy: py * r * 0.5, r: r * 0.15 })),
    way ? h("path", { class: "way", transform: `translate(0 ${r + 7}) rotate(${(Math.atan2(way[0], way[1]) * 180) / Math.PI})`, d: "M-6 0H6M2 -4L6 0L2 4" }) : label("free", 0, r + 11, { size: 10, anchor: "middle", kind: "soft" }));
}

function seatItems(frame, options, seat, { x, y, width, tall }) {
  const { view } = frame, due = frame.due.includes(seat);
  const cards = frame.private[seat]?.cards?.[seat] ?? view.cards[seat], hidden = view.cards_dealt > seat ? Math.max(0, countOf(view, seat) - cards.length) : 0;
  const order = view.order.map((card, i) => (i % view.players === seat ? ORDER[card] : null)).filter(Boolean).join(" and ");
  const score = frame.scores[seat], over = view.phase === "over";
  const items = [
    item(`pane-${seat}`, x, y, [width, tall, due], () => pane(width, tall, due ? "due" : "")),
    item(`head-${seat}`, x + 10, y + 21, [options.seats[seat].name, order, score, width], () => h("g", {},
      label(options.seats[seat].name, 0, 0, { size: 13, kind: "strong", width: width - 165 }),
      order && label(order, width - 62, 0, { size: 12, anchor: "end", kind: "soft" }),
      label(signed(score), width - 20, 0, { size: 15, anchor: "end", kind: "strong" }))),
    item(`kept-${seat}`, x + 10, y + 52, [view.letters[seat], view.penalties[seat], over && away(view, seat)], () => h("g", {},
      h("g", { transform: "translate(10 -4)" }, mail(10)), label(`× ${view.letters[seat]}`, 26, 0, { size: 13 }),
      h("path", { class: "cross", d: "M66 -10l10 10M76 -10l-10 10" }), label(`× ${view.penalties[seat]}`, 84, 0, { size: 13 }),
      over && label(`distance ${away(view, seat)}`, 120, 0, { size: 12, kind: "soft" }))),
  ];
  cards.forEach((colour, i) => items.push(item(`goal-${seat}-${colour}`, x + width - 26 - i * 34, y + 50, [], () => h("g", {}, h("rect", { class: "goal", x: -14, y: -20, width: 28, height: 40, rx: 5 }), balloon(CLASSES[colour], LETTERS[colour], 11)), { enter: "grow" })));
  for (let i = 0; i < hidden; i += 1) items.push(item(`secret-${seat}-${i}`, x + width - 26 - i * 34, y + 50, [], () => back(28, 40), { enter: "none", exit: "none" }));
  return items;
}

function countOf(view, seat) {
  return Math.floor((view.cards_dealt - seat - 1) / view.players) + 1;
}

/** How far a seat's balloons are from the landing zone. */
function away(view, seat) {
  const far = (colour) => Math.max(LANDING - rowOf(view.balloons[colour]), Math.abs(columnOf(view.balloons[colour]) - view.zone));
  return view.cards[seat].reduce((sum, colour) => sum + far(colour), 0);
}
