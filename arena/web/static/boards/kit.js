// What all boards are drawn with: elements, balloons and cards, and a stage that moves what moved.
//
// A board is a module with `draw(svg, frame, options)`. It lists *items*: a key that stays while the thing is the same, where it
// is, a signature of how it looks, and a function that draws it around (0, 0). The stage does the rest: what is new comes in, what
// has gone goes out, what is elsewhere glides there. docs/boards.md has the whole contract.

const NS = "http://www.w3.org/2000/svg";
const EDGE = 1.5; // room for the outlines of what lies at the border
const EASE = "cubic-bezier(.3, .9, .3, 1)";

/** An SVG element. Numbers are cut to hundredths; children that are null or false are left out. */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, typeof value === "number" ? cut(value) : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function cut(number) {
  return String(Math.round(number * 100) / 100);
}

/** Text around (x, y): `anchor` start, middle or end; cut with an ellipsis at `width` (estimated, in user units). */
export function label(text, x, y, { size = 13, anchor = "start", kind = "", width = Infinity } = {}) {
  const room = Math.max(1, Math.floor(width / (size * 0.62)));
  const shown = String(text).length > room ? `${String(text).slice(0, room - 1)}…` : String(text);
  return h("text", { x, y, "font-size": size, "text-anchor": anchor, class: kind || null }, shown);
}

/** A number with a real minus. */
export function signed(number) {
  return String(number).replace("-", "−");
}

/** A balloon of radius `r` in a colour's class (`c-red`, ...), with its letter: colour is never the only sign. */
export function balloon(colour, letter, r, { star = false, string = false } = {}) {
  const size = star ? r * 0.94 : r * 1.02;
  return h("g", { class: `balloon-${string ? "flies" : "hangs"} ${colour}` },
    string && h("path", { class: "string", d: `M0 ${cut(r * 1.12)}q${cut(r * 0.35)} ${cut(r * 0.4)} 0 ${cut(r * 0.8)}` }),
    h("path", { class: "skin", d: skin(r) }),
    h("path", { class: "shine", d: `M${cut(-r * 0.52)} ${cut(-r * 0.18)}A${cut(r * 0.62)} ${cut(r * 0.62)} 0 0 1 ${cut(-r * 0.12)} ${cut(-r * 0.6)}`, "stroke-width": r * 0.13 }),
    star && h("path", { class: "star", transform: `translate(0 ${cut(r * 0.48)})`, d: starPath(r * 0.38) }),
    label(letter, 0, size * 0.36 - (star ? r * 0.26 : 0), { size, anchor: "middle", kind: "on" }));
}

function skin(r) {
  const w = r * 0.92, k = r * 0.14;
  return `M0 ${cut(-r)}C${cut(w * 0.62)} ${cut(-r)} ${cut(w)} ${cut(-r * 0.5)} ${cut(w)} ${cut(-r * 0.06)}C${cut(w)} ${cut(r * 0.46)} ${cut(w * 0.44)} ${cut(r * 0.82)} ${cut(k * 0.6)} ${cut(r * 0.94)}l${cut(k)} ${cut(k)}h${cut(-k * 3.2)}l${cut(k)} ${cut(-k)}C${cut(-w * 0.44)} ${cut(r * 0.82)} ${cut(-w)} ${cut(r * 0.46)} ${cut(-w)} ${cut(-r * 0.06)}C${cut(-w)} ${cut(-r * 0.5)} ${cut(-w * 0.62)} ${cut(-r)} 0 ${cut(-r)}z`;
}

/** A star with five points around (0, 0). */
export function starPath(r, points = 5, inner = 0.5) {
  const at = [];
  for (let i = 0; i < points * 2; i += 1) {
    const angle = (i * Math.PI) / points - Math.PI / 2, length = i % 2 ? r * inner : r;
    at.push(`${cut(Math.cos(angle) * length)} ${cut(Math.sin(angle) * length)}`);
  }
  return `M${at.join("L")}z`;
}

/** An item of a stage. `acts` says which legal action texts a click on it agrees with; `says` names it to those who listen. */
export function item(key, x, y, look, build, { enter = "fade", exit = "fade", delay = 0, acts = null, says = "" } = {}) {
  return { key, x, y, look: JSON.stringify(look), build, enter, exit, delay, acts, says };
}

const memories = new WeakMap();

/** What a board remembers between two drawings of one svg, to tell which balloon is which. */
export function memory(svg) {
  if (!memories.has(svg)) memories.set(svg, {});
  return memories.get(svg);
}

/**
 * Puts items on the svg, `width` by `height` user units, in their order from back to front.
 * `options.animate`: ms for each movement, 0 for none. `options.legal` and `options.choose`: see docs/boards.md.
 * Returns how many ms it takes until all have come to rest.
 */
export function stage(svg, { width, height, items }, options = {}) {
  const { animate = 0, title = "", text = "" } = options;
  svg.setAttribute("viewBox", `${-EDGE} ${-EDGE} ${cut(width + 2 * EDGE)} ${cut(height + 2 * EDGE)}`);
  describe(svg, title, text, Boolean(options.choose));
  for (const ghost of svg.querySelectorAll(":scope > .ghost")) ghost.remove();
  const old = new Map([...svg.querySelectorAll(":scope > [data-key]")].map((node) => [node.dataset.key, node]));
  let before = svg.querySelector(":scope > desc");
  for (const one of items) {
    let node = old.get(one.key);
    const fresh = node === undefined;
    if (fresh) node = h("g", { "data-key": one.key }, h("g", { class: "moves" }));
    old.delete(one.key);
    settle(node, one, fresh, animate);
    offer(node, one, options);
    if (before.nextSibling !== node) before.after(node);
    before = node;
  }
  for (const node of old.values()) leave(node, animate);
  return animate * (1 + Math.max(0, ...items.map((one) => one.delay)));
}

function describe(svg, title, text, playable) {
  svg.setAttribute("role", playable ? "group" : "img");
  svg.setAttribute("aria-label", title);
  let desc = svg.querySelector(":scope > desc");
  if (!desc) {
    desc = h("desc", { id: `board-${Math.random().toString(36).slice(2)}` });
    svg.prepend(desc);
    svg.setAttribute("aria-describedby", desc.id);
  }
  if (desc.textContent !== text) desc.textContent = text;
}

/** Brings a node to its item's place and look. */
function settle(node, one, fresh, animate) {
  const [inner] = node.children;
  const was = node.at, wasLook = node.look;
  if (wasLook !== one.look) {
    inner.replaceChildren(one.build());
    node.look = one.look;
  }
  node.exit = one.exit;
  node.at = [one.x, one.y];
  node.setAttribute("transform", `translate(${cut(one.x)} ${cut(one.y)})`);
  for (const running of inner.getAnimations()) running.cancel();
  if (!animate) return;
  const timing = { duration: animate, easing: EASE, delay: one.delay * animate, fill: "backwards" };
  if (fresh) inner.animate(ENTER[one.enter], timing);
  else if (was[0] !== one.x || was[1] !== one.y) {
    inner.animate([{ transform: `translate(${was[0] - one.x}px, ${was[1] - one.y}px)` }, { transform: "none" }], timing);
  }
}

const ENTER = {
  fade: [{ opacity: 0 }, { opacity: 1 }],
  rise: [{ opacity: 0, transform: "translateY(40px)" }, { opacity: 1, transform: "none" }],
  drop: [{ opacity: 0, transform: "translateY(-30px)" }, { opacity: 1, transform: "none" }],
  grow: [{ opacity: 0, transform: "scale(.4)" }, { opacity: 1, transform: "none" }],
  none: [{}, {}],
};
const EXIT = {
  fade: [{ opacity: 1 }, { opacity: 0 }],
  burst: [{ opacity: 1, transform: "none" }, { opacity: 1, transform: "scale(1.35)", offset: 0.35 }, { opacity: 0, transform: "scale(1.7)" }],
  none: null,
};

function leave(node, animate) {
  if (!animate || !EXIT[node.exit]) return node.remove();
  node.classList.add("ghost");
  node.removeAttribute("data-key");
  node.parentNode.append(node);
  node.firstChild.animate(EXIT[node.exit], { duration: animate * 0.8, easing: "ease-out", fill: "forwards" }).finished
    .then(() => node.remove(), () => node.remove());
}

/** A button's name: what it says, and what is written on it. */
function spoken(node, says) {
  const written = node.textContent;
  return written === "" || ` ${says}`.endsWith(` ${written}`) ? says : `${says}: ${written}`;
}

/** Lets a thing be clicked, if legal actions agree with it. */
function offer(node, one, { legal = [], choose = null }) {
  const agreeing = choose && one.acts ? legal.filter(one.acts) : [];
  const can = agreeing.length > 0;
  node.classList.toggle("can", can);
  node.classList.toggle("chosen", can && legal.length > 1 && agreeing.length === legal.length);
  node.onclick = node.onkeydown = null;
  for (const [name, value] of [["role", "button"], ["tabindex", "0"], ["aria-label", can && spoken(node, one.says || agreeing[0])]]) {
    if (can) node.setAttribute(name, value);
    else node.removeAttribute(name);
  }
  if (!can) return;
  node.onclick = () => choose(agreeing);
  node.onkeydown = (key) => {
    if (key.key !== "Enter" && key.key !== " ") return;
    key.preventDefault();
    key.stopPropagation();
    choose(agreeing);
  };
}

/** Which of `old` each of `now` is, as a longest common subsequence: an index of `old`, or -1 for what is new. */
export function aligned(old, now) {
  const length = Array.from({ length: old.length + 1 }, () => new Array(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let k = now.length - 1; k >= 0; k -= 1) {
      length[i][k] = old[i] === now[k] ? length[i + 1][k + 1] + 1 : Math.max(length[i + 1][k], length[i][k + 1]);
    }
  }
  const found = [];
  for (let i = 0, k = 0; k < now.length;) {
    if (i < old.length && old[i] === now[k]) { found.push(i); i += 1; k += 1; }
    else if (i < old.length && length[i + 1][k] >= length[i][k + 1]) i += 1;
    else { found.push(-1); k += 1; }
  }
  return found;
}

/** A card's outline around its centre, `kind` its class. */
export function card(width, height, kind = "", ...children) {
  return h("g", { class: `card-face ${kind}` },
    h("rect", { x: -width / 2, y: -height / 2, width, height, rx: Math.min(width, height) * 0.14 }), children);
}

/** The back of a card. */
export function back(width, height) {
  const r = Math.min(width, height) * 0.26;
  return card(width, height, "back", h("path", { class: "emblem", d: skin(r) }));
}

/** A chip with its worth written on it, or nothing. */
export function chip(r, text = "") {
  return h("g", { class: "chip" },
    h("circle", { class: "coin", r }), h("circle", { class: "rim", r: r * 0.7 }),
    text !== "" && label(text, 0, r * 0.36, { size: r, anchor: "middle" }));
}

/** A pane behind things, from its top left corner. */
export function pane(width, height, kind = "") {
  return h("rect", { class: `pane ${kind}`, width, height, rx: 10 });
}
