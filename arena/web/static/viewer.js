// The viewer: shows a film, as the arena and `arena replay --html` make them, position by position. docs/boards.md says what a film is.

import { textBoard } from "./text.js";
import { strip } from "./strip.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Frames hold what changed; this makes whole ones. Members that no frame may share are copied. */
export function unfold(film) {
  const frames = [];
  for (const frame of film.frames) frames.push(wholeFrame(frame, frames.at(-1)));
  return { ...film, frames };
}

/** A whole frame, from what differs in it from the whole one `before` it. */
export function wholeFrame(frame, before = { n: -1, view: {}, private: {}, lines: [], scores: [], clocks: [], due: [] }) {
  const lines = before.lines.slice(0, frame.height ?? Infinity);
  for (const [at, line] of frame.lines ?? []) lines[at] = line;
  return {
    ...frame,
    n: before.n + 1,
    actors: frame.actors ?? [],
    due: frame.due ?? before.due,
    view: { ...before.view, ...frame.view },
    private: { ...before.private, ...frame.private },
    lines,
    scores: frame.scores ?? before.scores,
    clocks: frame.clocks ?? before.clocks,
    notes: frame.notes ?? {},
    scenes: frame.scenes ?? [],
  };
}

/**
 * Makes the viewer in `root` work. `fetchFilm(eyes)` gives a film ("all", "public" or a seat's number as text), `board` the module that
 * draws this game, or null: then positions are shown as text.
 */
export function mount(root, { fetchFilm, board, n: at = null }) {
  const $ = (selector) => root.querySelector(selector);
  const svg = $("[data-stage]"), seek = $(".seek"), play = $("[data-go=play]");
  const films = new Map();
  const paintText = textBoard($("[data-picture]"));
  let eyes = root.querySelector(".eyes [aria-current]").dataset.eyes;
  const running = at !== null;
  let last = Number(root.dataset.last);
  let n = fromAddress() ?? at ?? Number($("[data-n]").textContent);
  let shown = null, timer = null, ticket = 0;

  for (const hidden of root.querySelectorAll("[data-script]")) hidden.hidden = false;
  if (board) svg.removeAttribute("hidden");
  else $("details").open = true;

  function fromAddress() {
    const found = /^#(\d{1,6})(?:([sp])(\d?))?$/.exec(location.hash);
    if (!found) return null;
    const wanted = found[2] === "p" ? "public" : found[2] === "s" ? found[3] : "all";
    if (root.querySelector(`.eyes [data-eyes="${wanted}"]`)) eyes = wanted;
    return Math.min(Number(found[1]), last);
  }

  function toAddress() {
    if (running) return; // the finished match is to be shown from its end, with everything
    const whose = { all: "", public: "p" }[eyes] ?? `s${eyes}`;
    history.replaceState(null, "", `${location.href.split("#")[0]}#${n}${whose}`);
  }

  /** The film in a pair of eyes, asked for once. */
  function film() {
    const wanted = eyes;
    if (!films.has(wanted)) {
      films.set(wanted, fetchFilm(wanted).then(unfold));
      films.get(wanted).catch(() => films.delete(wanted));
    }
    return films.get(wanted);
  }

  /** Ms between two positions: as chosen, and of a running match faster if it is far ahead. */
  function pace() {
    const chosen = Number($("[data-speed]").value);
    return running && n < last ? Math.min(chosen, Math.max(40, 2000 / (last - n))) : chosen;
  }

  /** Goes on with frames of a running match; who looks at the newest position is taken along. */
  async function append(frames) {
    const { frames: whole } = await film();
    const along = n === last || playing();
    for (const frame of frames) whole.push(wholeFrame(frame, whole.at(-1)));
    last = whole.length - 1;
    seek.max = last;
    $("[data-of]").textContent = last;
    if (along && !playing()) go();
  }

  /** Shows position `wanted`; gives the ms until all have come to rest. */
  async function show(wanted, { address = true } = {}) {
    n = Math.max(0, Math.min(last, wanted));
    ticket += 1;
    const mine = ticket;
    let whole;
    try {
      whole = await film();
    } catch {
      halt();
      $("[data-event]").replaceChildren("The positions cannot be fetched now.", $("[data-note]"));
      return 0;
    }
    if (mine !== ticket) return 0;
    const frame = whole.frames[n], before = shown;
    shown = { eyes, n };
    tell(whole, frame);
    if (address) toAddress();
    const stepped = before !== null && before.eyes === eyes && Math.abs(before.n - n) === 1;
    const animate = still.matches || !stepped ? 0 : Math.min(420, pace() * 0.7);
    if (animate > 60 && before.n < n) {
      for (const scene of frame.scenes) {
        drawBoard(whole, { ...frame, scene }, animate);
        await new Promise((done) => { setTimeout(done, animate * 1.15); });
        if (mine !== ticket) return 0;
      }
    }
    const took = drawBoard(whole, frame, animate);
    if (n === last) halt();
    return took;
  }

  function drawBoard(whole, frame, animate) {
    if (!board) return 0;
    const width = Math.max(280, Math.min(1100, svg.parentNode.clientWidth));
    const title = `${whole.title}, position ${frame.n} of ${last}: ${words(whole, frame)}`;
    return board.draw(svg, frame, {
      width, animate, title, text: frame.lines.join("\n"), config: whole.config, eyes: whole.eyes,
      seats: whole.seats.map(({ bot, hue }) => ({ name: bot, hue })), result: frame.n === last ? whole.result : null,
    });
  }

  function words(whole, frame) {
    if (frame.kind === "chance") return `chance: ${frame.said[0]}`;
    if (frame.kind === "start") return frame.said[0];
    return frame.actors.map((seat, i) => `${whole.seats[seat].bot}: ${frame.said[i]}`).join("; ");
  }

  /** Everything but the board: the event, scores and clocks, the text, the strip. */
  function tell(whole, frame) {
    const { seats } = whole;
    $("[data-event]").dataset.kind = frame.kind;
    $("[data-event]").replaceChildren(...events(seats, frame), $("[data-note]"));
    $("[data-note]").textContent = Object.entries(frame.notes).map(([seat, note]) => noted(seats[seat].bot, note)).join(" ");
    $("[data-n]").textContent = n;
    seek.value = n;
    seek.setAttribute("aria-valuetext", `${n} of ${last}: ${words(whole, frame)}`);
    for (const item of root.querySelectorAll("[data-score-of]")) {
      const seat = Number(item.dataset.scoreOf);
      item.querySelector("b").textContent = String(frame.scores[seat]).replace("-", "−");
      item.querySelector("[data-clock]").textContent = frame.clocks[seat] == null ? "" : minutes(frame.clocks[seat]);
      item.querySelector("[data-place]").textContent = n === last && whole.result ? `${whole.result.places[seat]}.` : "";
      item.classList.toggle("acts", frame.actors.includes(seat));
      item.classList.toggle("due", frame.due.includes(seat));
    }
    for (const eye of root.querySelectorAll(".eyes a")) {
      if (eye.dataset.eyes === eyes) eye.setAttribute("aria-current", "true");
      else eye.removeAttribute("aria-current");
    }
    paintText(frame.lines, n > 0 ? whole.frames[n - 1].lines : null);
    strip($("[data-strip]"), whole, n, (at) => { halt(); show(at); });
  }

  function halt() {
    clearTimeout(timer);
    timer = null;
    play.setAttribute("aria-pressed", "false");
    play.setAttribute("aria-label", "Play");
  }

  const playing = () => play.getAttribute("aria-pressed") === "true";

  function go() {
    if (n === last) n = -1;
    play.setAttribute("aria-pressed", "true");
    play.setAttribute("aria-label", "Pause");
    const tick = async () => {
      const took = await show(n + 1);
      if (playing()) timer = setTimeout(tick, Math.max(pace(), took));
    };
    tick();
  }

  const moves = { first: () => 0, back: () => n - 1, next: () => n + 1, last: () => last };

  root.addEventListener("click", (click) => {
    const eye = click.target.closest(".eyes a"), button = click.target.closest("[data-go]");
    if (eye) {
      click.preventDefault();
      eyes = eye.dataset.eyes;
      show(n);
    } else if (button) {
      click.preventDefault();
      if (button === play) return playing() ? halt() : go();
      halt();
      show(moves[button.dataset.go]());
    }
  });
  seek.addEventListener("input", () => { halt(); show(Number(seek.value)); });

  document.addEventListener("keydown", (key) => {
    if (key.altKey || key.ctrlKey || key.metaKey || /^(input|select|textarea)$/i.test(key.target.tagName)) return;
    const step = key.shiftKey ? 10 : 1;
    const wanted = { ArrowLeft: n - step, ArrowRight: n + step, Home: 0, End: last }[key.key];
    if (wanted !== undefined) {
      key.preventDefault();
      halt();
      show(wanted);
    } else if (key.key === " " && !key.target.closest("a, button, summary")) {
      key.preventDefault();
      playing() ? halt() : go();
    }
  });
  addEventListener("hashchange", () => {
    const wanted = fromAddress();
    if (wanted !== null) { halt(); show(wanted, { address: false }); }
  });
  let wide = svg.parentNode.clientWidth;
  addEventListener("resize", () => {
    if (svg.parentNode.clientWidth === wide) return;
    wide = svg.parentNode.clientWidth;
    shown = null;
    show(n, { address: false });
  });

  seek.max = last;
  $("[data-of]").textContent = last;
  show(n, { address: false });
  return { append };
}

/** What happened, who did it before each part. */
function events(seats, frame) {
  const span = (kind, text) => Object.assign(document.createElement("span"), { className: kind, textContent: text });
  return frame.said.flatMap((text, i) => [span("actor", frame.kind === "chance" ? "Chance" : seats[frame.actors[i]]?.bot ?? ""), " ", span("said", text), " "]);
}

/** Milliseconds as a clock shows them. */
export function minutes(ms) {
  if (ms < 10000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function noted(name, note) {
  const parts = [];
  if (note.eval !== undefined) parts.push(`${note.eval > 0 ? "+" : ""}${(note.eval / 1000).toFixed(2)}`.replace("-", "−"));
  if (note.comment) parts.push(`“${note.comment}”`);
  if (note.pv?.length) parts.push(`expects ${note.pv.join(", ")}`);
  if (note.nodes) parts.push(`${note.nodes} nodes`);
  return `${name}: ${parts.join(" · ")}`;
}
