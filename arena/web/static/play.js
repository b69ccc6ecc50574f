// A table: what happens comes as server-sent events, drawn by the game's board; what a person chooses is sent back.

import { secretOf, keepSecret, fromAddress } from "./seats.js";
import { phrase, question } from "./phrases.js";
import { textBoard } from "./text.js";
import { minutes, wholeFrame } from "./viewer.js";

const root = document.querySelector("[data-at-table]");
const $ = (selector) => root.querySelector(selector);
const still = matchMedia("(prefers-reduced-motion: reduce)");
const id = root.dataset.atTable, game = root.dataset.game;
const board = root.dataset.board ? await import(root.dataset.board) : null;
const paintText = textBoard($("[data-picture]"));
const svg = $("[data-stage]"), leave = document.querySelector("[data-leave]");
const MANY = 24;

const frames = [];
let state = null, shown = -1, busy = false, hurry = false;
let answered = 0, narrowed = null, askedAt = 0, byKey = false, invitation = "", lost = false, offered = "";

// ---------------------------------------------------------------- talking with the arena

/** Sends something; gives the answer, or throws an Error that can be shown. */
async function send(what, document = {}) {
  let response;
  try {
    response = await fetch(`/play/${id}/${what}`, { method: "POST", headers: authorised({ "content-type": "application/json" }), body: JSON.stringify(document) });
  } catch {
    throw new Error("the arena cannot be reached");
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.problem), { status: response.status });
  return answer;
}

function authorised(headers = {}) {
  const secret = secretOf(id);
  return secret ? { ...headers, authorization: `Bearer ${secret}` } : headers;
}

let connection = null;

/** Reads the stream for as long as the page is open, and goes on where it was when it broke. */
async function follow() {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    connection = new AbortController();
    try {
      const response = await fetch(`/play/${id}/live?have=${frames.length}`, { headers: authorised(), signal: connection.signal });
      if (response.status === 404) return location.replace(`/play/${id}`);
      if (response.status === 403) { keepSecret(id, ""); continue; }
      if (response.ok) {
        wait = 500;
        for await (const message of messages(response.body)) hear(message);
      }
    } catch (error) {
      if (error.name === "AbortError") { wait = 0; continue; }
    }
    lost = true;
    tellTurn();
    await sleep(wait);
  }
}

async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      if (text.startsWith("data: ")) yield JSON.parse(text.slice(6, end));
      text = text.slice(end + 2);
    }
  }
}

function sleep(ms) {
  return new Promise((done) => { setTimeout(done, ms); });
}

/** Another seat, or none, than the page was opened with. */
function reconnect() {
  frames.length = 0;
  shown = -1;
  $("[data-log]").replaceChildren();
  connection?.abort();
}

function hear({ from = 0, frames: more = [], state: fresh }) {
  lost = false;
  more.forEach((frame, i) => { if (from + i === frames.length) frames.push(wholeFrame(frame, frames.at(-1))); });
  if (fresh) {
    if (fresh.ask?.id !== state?.ask?.id) { narrowed = null; askedAt = performance.now(); }
    else if (fresh.ask) askedAt = performance.now();
    state = fresh;
    tellSeats();
    if (state.phase !== "over") tellDoor();
  }
  advance();
}

// ---------------------------------------------------------------- showing what happens

/** Shows the frames that are not shown yet, one after the other, and then what is to be decided. */
async function advance() {
  if (busy || state.phase === "waiting") return tellTurn();
  if (shown === frames.length - 1) return settle();
  busy = true;
  choices([]);
  hurry = shown < 0;
  while (shown < frames.length - 1) {
    if (hurry || still.matches || document.hidden) {
      for (shown += 1; shown < frames.length - 1; shown += 1) log(frames[shown]);
      log(frames[shown]);
      draw(frames[shown], 0);
      break;
    }
    shown += 1;
    await film(frames[shown], frames.length - shown);
  }
  busy = false;
  settle();
}

/** One event, at a pace that shows `left` of them in a few seconds. */
async function film(frame, left) {
  const animate = Math.max(40, Math.min(380, 2400 / left));
  log(frame);
  tellTurn();
  if (animate > 90) {
    for (const scene of frame.scenes) {
      if (hurry) break;
      draw({ ...frame, scene }, animate);
      await sleep(animate * 1.15);
    }
  }
  const took = draw(frame, animate);
  if (!hurry) await sleep(frame.kind === "chance" || left > 8 ? took : took + 260);
}

/** All is shown that has happened: now it is somebody's turn. */
function settle() {
  tellDoor();
  tellTurn();
  const open = ask();
  if (open) offer(narrowed ?? open.legal);
  else choices([]);
  if (shown >= 0) draw(frames[shown], 0);
}

function ask() {
  return state?.phase === "playing" && state.ask && state.ask.id !== answered ? state.ask : null;
}

function draw(frame, animate) {
  paintText(frame.lines, frame.n > 0 ? frames[frame.n - 1].lines : null);
  if (!board) return animate;
  svg.removeAttribute("hidden");
  const open = busy ? null : ask();
  return board.draw(svg, frame, {
    width: Math.max(280, Math.min(1100, svg.parentNode.clientWidth)),
    animate, title: `${state.title}: ${turn()}`, text: frame.lines.join("\n"), config: state.config,
    eyes: state.you ?? "public", seats: state.seats.map(({ bot, hue }) => ({ name: bot || "…", hue })),
    result: state.phase === "over" && frame.n === frames.length - 1 ? state.result : null,
    ...(open ? { legal: narrowed ?? open.legal, choose: pick } : {}),
  });
}

function log(frame) {
  const list = $("[data-log]"), last = list.lastElementChild;
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
  if (frame.kind === "chance" && last?.dataset.kind === "chance") {
    last.said.set(frame.said[0], (last.said.get(frame.said[0]) ?? 0) + 1);
    last.lastChild.textContent = [...last.said].map(([text, times]) => (times > 1 ? `${text} (${times} times)` : text)).join(", ");
  } else {
    const who = (i) => (frame.kind === "chance" ? "Chance" : frame.kind === "start" ? "" : name(frame.actors[i]));
    for (const [i, text] of frame.said.entries()) {
      const line = make("p", "", make("span", "actor", who(i)), " ", make("span", "said", text));
      line.dataset.kind = frame.kind;
      line.said = new Map([[text, 1]]);
      list.append(line);
    }
  }
  if (atEnd) list.scrollTop = list.scrollHeight;
}

// ---------------------------------------------------------------- choosing

function offer(legal) {
  const keep = byKey && (document.activeElement === document.body || root.contains(document.activeElement));
  choices(legal);
  if (keep) $("[data-buttons] button")?.focus({ preventScroll: true });
}

/** The buttons: one for each legal action, narrowed by the board or by what was typed. */
function choices(legal) {
  const box = $("[data-choices]"), typed = $("[data-narrow]");
  box.hidden = legal.length === 0;
  typed.hidden = legal.length <= MANY;
  if (typed.hidden) typed.value = "";
  const wanted = typed.value.trim().toLowerCase(), says = JSON.stringify([narrowed !== null, wanted, legal]);
  if (says === offered) return;
  offered = says;
  const fitting = legal.filter((text) => `${text} ${phrase(game, text)}`.toLowerCase().includes(wanted));
  $("[data-asks]").replaceChildren(narrowed ? "Which of these?" : question(game, legal), make("span", "tag num", `${legal.length}`));
  const buttons = fitting.map((text) => {
    const words = phrase(game, text), made = button(words, words === text ? "choice code" : "choice", () => choose(text));
    if (words !== text) made.title = text;
    made.dataset.action = text;
    return made;
  });
  if (narrowed) buttons.push(button("Back to all", "plain", () => narrow(null)));
  $("[data-buttons]").replaceChildren(...buttons);
}

/** A click on the board, with which these actions agree: one is played, several are narrowed down to, all of those that were left: undone. */
function pick(agreeing) {
  if (agreeing.length === 1) choose(agreeing[0]);
  else narrow(agreeing.length === narrowed?.length ? null : agreeing);
}

function narrow(agreeing) {
  narrowed = agreeing;
  settle();
}

async function choose(text) {
  const open = ask();
  if (!open) return;
  answered = open.id;
  narrowed = null;
  $("[data-narrow]").value = "";
  settle();
  try {
    await send("move", { decision: open.id, action: text });
  } catch (error) {
    if (error.status !== 409) answered = 0;
    settle();
    if (error.status !== 409) $("[data-turn]").textContent = `That did not arrive: ${error.message}.`;
  }
}

// ---------------------------------------------------------------- who, when, and the end

function make(tag, kind, ...children) {
  const node = document.createElement(tag);
  if (kind) node.className = kind;
  node.append(...children);
  return node;
}

function button(text, kind, onclick) {
  const node = make("button", kind, text);
  node.type = "button";
  node.addEventListener("click", onclick);
  return node;
}

function name(seat) {
  return seat === state.you ? "You" : state.seats[seat].bot || "an empty chair";
}

function names(seats) {
  const all = seats.map(name);
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

/** Whose turn it is, in words. */
function turn() {
  if (state.phase === "waiting") return "Waiting for everybody to sit down";
  if (state.phase === "ended") return `There is no result: ${state.problem}`;
  if (state.phase === "over" && shown === frames.length - 1) return verdict();
  if (ask() && !busy) return state.ask.timer ? "Your turn, and time runs" : "Your turn";
  const due = frames[shown]?.due.filter((seat) => seat !== state.you) ?? [];
  if (due.length === 0) return "The game goes on";
  return `${names(due)} ${due.length === 1 ? "decides" : "decide"}`;
}

function verdict() {
  const { places } = state.result, mine = places[state.you];
  const winners = places.flatMap((place, seat) => (place === 1 ? [seat] : []));
  if (mine === 1) return winners.length > 1 ? "You share the first place" : "You win";
  const won = `${names(winners)} ${winners.length > 1 ? "share the first place" : "wins"}`;
  return mine ? `${won}; you are number ${mine} of ${places.length}` : won;
}

function tellTurn() {
  const words = lost ? "The connection is lost; trying again …" : state ? turn() : "Connecting …";
  const line = $("[data-turn]");
  if (line.textContent !== words) line.textContent = words;
  if (!state) return;
  line.parentNode.classList.toggle("yours", Boolean(ask()) && !busy && !lost);
  document.title = `${ask() && !busy ? "● Your turn" : state.title} · Bot Arena`;
  const frame = frames[Math.max(0, shown)];
  for (const [seat, item] of [...$("[data-seats]").children].entries()) {
    item.classList.toggle("due", state.phase === "playing" && Boolean(frame?.due.includes(seat)));
    item.querySelector("b").textContent = frame ? String(frame.scores[seat]).replace("-", "−") : "";
  }
  tellClock();
}

function tellClock() {
  const open = ask();
  const left = open ? Math.max(0, open.left_ms - (performance.now() - askedAt)) : 0;
  $("[data-clock]").textContent = open && !busy ? minutes(left) : "";
  $("[data-clock]").classList.toggle("short", Boolean(open) && left < 15000);
}
setInterval(tellClock, 250);

function tellSeats() {
  leave.hidden = state.you === undefined || state.phase === "over" || state.phase === "ended" || state.seats[state.you].left;
  const places = state.phase === "over" ? state.result.places : null;
  $("[data-seats]").replaceChildren(...state.seats.map((seat, number) => {
    const item = make("li", "", balloon(seat.hue));
    item.dataset.kind = seat.kind;
    if (places) item.append(make("span", "rank", `${places[number]}.`));
    item.append(make("span", "name", seat.bot || "free"), make("b", "num"));
    const more = number === state.you ? "you" : seat.kind === "bot" ? "bot" : seat.left ? "has left" : seat.bot && !seat.here ? "away" : "";
    if (more) item.append(make("span", "tag", more));
    if (seat.about) item.title = seat.about;
    return item;
  }));
  const proof = root.querySelector("[data-proof]");
  proof.hidden = !state.commitment;
  root.querySelector("[data-commitment]").textContent = state.commitment ?? "";
}

const NS = "http://www.w3.org/2000/svg";

function balloon(hue) {
  const picture = document.createElementNS(NS, "svg"), path = document.createElementNS(NS, "path");
  picture.setAttribute("class", `balloon hue-${hue}`);
  picture.setAttribute("viewBox", "0 0 12 16");
  picture.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M6 .6C2.9.6.8 2.9.8 5.8c0 3 2.5 5.3 4.600 6.200L4.600 13.400h2.800L6.600 12c2.100-.9 4.600-3.200 4.600-6.200C11.200 2.900 9.100.6 6 .6z");
  picture.append(path);
  return picture;
}

let doorShows = "";

/** What stands in front of the board: sitting down, inviting, the result. It is made anew only when it says something else. */
function tellDoor() {
  const door = $("[data-door]");
  const says = JSON.stringify([state.phase, state.you, state.invites, state.again, state.problem, invitation]);
  if (says === doorShows) return;
  doorShows = says;
  const content = state.you === undefined && invitation && state.phase === "waiting" ? sitDown() : state.phase === "waiting" ? invite() : state.phase === "playing" ? [] : after();
  door.hidden = content.length === 0;
  door.replaceChildren(...content);
}

function sitDown() {
  const input = make("input", "");
  Object.assign(input, { id: "name", maxLength: 20, autocomplete: "nickname", placeholder: "your name, if you like" });
  const label = make("label", "", "You are invited to this table as ");
  label.htmlFor = "name";
  const form = make("form", "sit", label, input, Object.assign(make("button", "button go", "Sit down"), { type: "submit" }));
  form.addEventListener("submit", (event) => { event.preventDefault(); join(id, invitation, input.value); });
  return [form];
}

async function join(table, code, called) {
  try {
    const response = await fetch(`/play/${table}/join`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code, name: called }) });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.problem);
    keepSecret(table, answer.secret);
    if (table !== id) return location.assign(`/play/${table}`);
    invitation = "";
    history.replaceState(null, "", location.pathname);
    reconnect();
  } catch (error) {
    $("[data-door]").append(make("p", "verdict bad", `${error.message}.`));
  }
}

function invite() {
  const links = (state.invites ?? []).map(({ seat, code }) => {
    const input = make("input", "");
    Object.assign(input, { readOnly: true, value: `${location.origin}/play/${id}#join=${code}` });
    input.setAttribute("aria-label", `Invitation to seat ${seat}`);
    input.addEventListener("focus", () => input.select());
    return make("p", "invitation", input, copier(input));
  });
  if (links.length === 0) return [make("p", "note", "The game begins when everybody is here.")];
  const many = links.length > 1;
  return [make("p", "", many ? "Send each of these links to one of those whom you invite:" : "Send this link to the one whom you invite:"), ...links, make("p", "note", "It is good for one. To watch, this page’s own address will do.")];
}

function copier(input) {
  const copy = button("Copy", "button", async () => {
    try {
      await navigator.clipboard.writeText(input.value);
      copy.textContent = "Copied";
    } catch {
      input.focus();
    }
  });
  return copy;
}

function after() {
  const ways = make("p", "ways");
  const parts = [];
  if (state.phase === "over") {
    const { places, scores, reasons } = state.result;
    const order = places.map((_, seat) => seat).sort((one, other) => places[one] - places[other]);
    parts.push(make("ol", "ranking", ...order.map((seat) => make("li", seat === state.you ? "mine" : "",
      make("span", "place", `${places[seat]}.`), make("span", "name", name(seat)), make("span", "num", `${String(scores[seat]).replace("-", "−")} points`),
      ...(reasons[seat] === "NORMAL" ? [] : [make("span", "fault", { TIMEOUT: "out of time", DISCONNECT: "left" }[reasons[seat]] ?? reasons[seat].toLowerCase().replace("_", " "))])))));
  }
  if (state.you !== undefined && state.again) ways.append(button("Sit down at the next game", "button go", () => join(state.again.table, state.again.code, state.seats[state.you].bot)));
  else if (state.you !== undefined && !state.seats[state.you].left) ways.append(button("Play again", "button go", again));
  if (state.phase === "over") ways.append(link("Watch the replay", `/play/${id}/replay`), link("Download the record", `/play/${id}/record`));
  ways.append(link("Another game", "/play"));
  return [...parts, ways];
}

function link(text, href) {
  const node = make("a", "button", text);
  node.href = href;
  return node;
}

async function again() {
  try {
    const { table, secret } = await send("again");
    keepSecret(table, secret);
    location.assign(`/play/${table}`);
  } catch (error) {
    $("[data-door]").append(make("p", "verdict bad", `${error.message}.`));
  }
}

leave.addEventListener("click", async () => {
  if (leave.dataset.sure) return send("leave").catch(() => {});
  leave.dataset.sure = "yes";
  leave.textContent = "Really leave? It counts as lost";
  setTimeout(() => { delete leave.dataset.sure; leave.textContent = "Leave the table"; }, 5000);
});

document.addEventListener("keydown", () => { byKey = true; }, true);
document.addEventListener("pointerdown", () => { byKey = false; }, true);
svg.addEventListener("click", () => { hurry = true; });
$("[data-narrow]").addEventListener("input", () => { if (ask()) choices(narrowed ?? ask().legal); });
addEventListener("resize", () => { if (!busy && shown >= 0) draw(frames[shown], 0); });

invitation = fromAddress(id);
follow();
