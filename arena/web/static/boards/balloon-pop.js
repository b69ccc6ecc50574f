// Balloon Pop: for each seat a board of six columns in which balloons float up, its cards below; above them the groups of the round.

import { aligned, balloon, card, h, item, label, memory, pane, signed, stage } from "./kit.js";

const COLUMNS = 6, ROWS = 8, GROUP = 4;
const COLOURS = { r: "c-red", g: "c-green", b: "c-blue", y: "c-yellow", w: "c-white" };

function cube(kind, r) {
  const colour = COLOURS[kind.toLowerCase()];
  return balloon(colour, kind.toUpperCase(), r, { star: kind !== kind.toLowerCase() });
}

export function draw(svg, frame, options) {
  const { view } = frame;
  const players = view.boards.length, wide = options.width >= 620;
  const across = wide ? players : 2, down = Math.ceil(players / across);
  const width = options.width, gap = wide ? 16 : 10;
  const panel = Math.min(300, (width - gap * (across - 1)) / across);
  const left = (width - panel * across - gap * (across - 1)) / 2;
  const cell = (panel - 16) / COLUMNS, head = 30, tray = panel < 200 ? 66 : 40;
  const tall = head + cell * ROWS + tray;
  const market = marketAt(view, width, wide, cell);
  const place = (seat) => [left + (seat % across) * (panel + gap), market.height + Math.floor(seat / across) * (tall + gap)];
  const items = [...market.items];
  const known = identities(svg, view);
  for (let seat = 0; seat < players; seat += 1) {
    const [x, y] = place(seat);
    items.push(...seatItems(frame, options, seat, { x, y, panel, tall, cell, head }));
  }
  items.push(...cubes(view, known, market, place, cell, head));
  return stage(svg, { width, height: market.height + down * (tall + gap) - gap, items }, options);
}

/** Where the round's groups lie, above the boards. */
function marketAt(view, width, wide, cell) {
  const players = view.groups.length, r = Math.min(15, cell * 0.46), step = r * 2.15;
  const across = wide ? players : 2, box = Math.min(170, (width - 10 * (across - 1)) / across), tall = r * 2 + 30;
  const left = (width - box * across - 10 * (across - 1)) / 2;
  const down = Math.ceil(players / across);
  const at = (group) => [left + (group % across) * (box + 10), 22 + Math.floor(group / across) * (tall + 8)];
  const count = (cubes) => cubes.reduce((sum, number) => sum + number, 0);
  const items = [item("bag", 0, 12, [view.round, view.bag, view.discarded, width], () => h("g", {},
    label(`Round ${view.round} of 8`, left, 0, { size: 13, kind: "strong" }),
    label(`${count(view.bag)} in the bag, ${count(view.discarded)} popped`, width - left, 0, { size: 12, anchor: "end", kind: "soft" })))];
  for (let group = 0; group < players; group += 1) {
    const [x, y] = at(group), owner = view.taken.indexOf(group + 1);
    items.push(item(`market-${group}`, x, y, [box, tall, owner], () => h("g", {},
      pane(box, tall, owner >= 0 ? "taken" : ""),
      label(group + 1, 9, 16, { size: 12, kind: "strong" }),
      owner >= 0 && label(`seat ${owner}`, box - 8, 16, { size: 11, anchor: "end", kind: "soft" })),
    { acts: (text) => text === `group ${group + 1}`, says: `take group ${group + 1}: ${view.groups[group]}` }));
  }
  const middle = (group, i) => {
    const [x, y] = at(group);
    return [x + box / 2 + (i - (GROUP - 1) / 2) * step, y + tall - r - 7];
  };
  return { items, middle, r, height: 22 + down * (tall + 8) + 8 };
}

/** A seat's pane: name and points, the empty board, the cards. */
function seatItems(frame, options, seat, { x, y, panel, tall, cell, head }) {
  const { view } = frame, { name } = options.seats[seat];
  const due = frame.due.includes(seat), mine = due && ["all", String(seat)].includes(String(options.eyes)), top = y + head;
  const items = [
    item(`pane-${seat}`, x, y, [panel, tall, due], () => pane(panel, tall, due ? "due" : "")),
    item(`head-${seat}`, x + 10, y + 20, [name, view.points[seat], panel], () => h("g", {},
      label(name, 0, 0, { size: 13, kind: "strong", width: panel - 60 }),
      label(signed(view.points[seat]), panel - 20, 0, { size: 15, anchor: "end", kind: "strong" }))),
    item(`grid-${seat}`, x + 8, top, [cell], () => grid(cell)),
  ];
  for (let column = 0; column < COLUMNS; column += 1) {
    const shape = () => h("rect", { class: "target", x: -cell / 2 + 1, y: 0, width: cell - 2, height: cell * ROWS, rx: 6 });
    const acts = mine ? (text) => new RegExp(`^[VH]${column}(\\D|$)`).test(text) : null;
    items.push(item(`column-${seat}-${column}`, x + 8 + cell * (column + 0.5), top, [cell], shape, { acts, says: `column ${column}` }));
  }
  return [...items, ...cardItems(view, seat, { x, y: top + cell * ROWS + 8, panel, mine })];
}

function grid(cell) {
  const lines = [h("rect", { class: "sky", width: cell * COLUMNS, height: cell * ROWS, rx: 8 })];
  for (let row = 1; row <= 3; row += 1) {
    lines.push(h("path", { class: row === 3 ? "rule strong" : "rule", d: `M4 ${row * cell}H${cell * COLUMNS - 4}` }));
  }
  for (let column = 1; column < COLUMNS; column += 1) lines.push(h("path", { class: "rule", d: `M${column * cell} 4V${ROWS * cell - 4}` }));
  return h("g", {}, lines);
}

/** The cards 1 to 10: in the hand, played this round, or gone. */
function cardItems(view, seat, { x, y, panel, mine }) {
  const across = panel < 200 ? 5 : 10, step = (panel - 16) / across, wide = Math.min(step - 3, 26);
  const items = [];
  for (let number = 1; number <= 10; number += 1) {
    const at = number - 1, now = view.cards[seat] === number, has = view.hands[seat].includes(number);
    const kind = now ? "now" : has ? "" : "gone";
    items.push(item(`card-${seat}-${number}`, x + 8 + step * ((at % across) + 0.5), y + 12 + Math.floor(at / across) * 27, [kind, wide],
      () => card(wide, 23, kind, label(number, 0, 4.5, { size: 12, anchor: "middle" })),
      { acts: mine ? (text) => text === `card ${number}` : null, says: `play card ${number}` }));
  }
  return items;
}

/** Each balloon with a number of its own, so that it can be followed from the bag to the board until it pops. */
function identities(svg, view) {
  const mind = memory(svg);
  mind.next ??= 0;
  const before = mind.known ?? { groups: [], boards: [] };
  const fresh = () => { mind.next += 1; return mind.next; };
  const groups = view.groups.map((kinds, group) => follow(before.groups[group], kinds, fresh));
  const boards = view.boards.map((columns, seat) => {
    const lost = before.groups[view.taken[seat] - 1], loose = lost && !view.groups[view.taken[seat] - 1] ? [...lost.ids.map((id, i) => [id, lost.kinds[i]])] : [];
    const take = (kind) => {
      const at = loose.findIndex(([, other]) => other === kind);
      return at < 0 ? fresh() : loose.splice(at, 1)[0][0];
    };
    return columns.map((kinds, column) => follow(before.boards[seat]?.[column], kinds, take));
  });
  mind.known = { groups, boards };
  return mind.known;
}

function follow(old, kinds, make) {
  const found = aligned(old ? [...old.kinds] : [], [...kinds]);
  return { kinds, ids: found.map((at, i) => (at < 0 ? make(kinds[i]) : old.ids[at])) };
}

function cubes(view, known, market, place, cell, head) {
  const items = [], r = Math.min(cell * 0.46, 22);
  const at = (id, kind, size, x, y, more) => item(`cube-${id}`, x, y, [kind, size], () => cube(kind, size), { enter: "rise", exit: "burst", ...more });
  known.groups.forEach(({ kinds, ids }, group) => ids.forEach((id, i) => items.push(at(id, kinds[i], market.r, ...market.middle(group, i)))));
  known.boards.forEach((columns, seat) => columns.forEach(({ kinds, ids }, column) => ids.forEach((id, row) => {
    const [x, y] = place(seat);
    const acts = (text) => new RegExp(`^pop .@${column},${row}$`).test(text);
    items.push(at(id, kinds[row], r, x + 8 + cell * (column + 0.5), y + head + cell * (row + 0.5), { acts, says: `pop the set at column ${column}, row ${row}` }));
  })));
  return items;
}
