// The replay: steps through all positions in one observer's eyes. Without scripts its links do the same, a page each.

const root = document.querySelector("[data-replay]");
if (root) start(root);

function start(root) {
  const $ = (selector) => root.querySelector(selector);
  const picture = $("[data-picture]"), event = $("[data-event]"), seek = $(".seek"), play = $("[data-go=play]");
  const last = Number(root.dataset.last);
  const names = [...root.querySelectorAll("[data-score-of] .name")].map((node) => node.textContent);
  const films = new Map();
  let seat = root.querySelector(".eyes [aria-current]").dataset.seat;
  let n = fromAddress() ?? Number($("[data-n]").textContent);
  let timer = null;

  for (const hidden of root.querySelectorAll("[hidden]")) hidden.hidden = false;

  /** Positions for a pair of eyes, asked for once. */
  function film(eyes) {
    if (!films.has(eyes)) {
      films.set(eyes, fetch(`${root.dataset.replay}?seat=${eyes}`).then((response) => {
        if (!response.ok) throw new Error(`${response.status}`);
        return response.json();
      }).then((document) => document.frames));
    }
    return films.get(eyes);
  }

  function fromAddress() {
    const found = /^#(\d{1,6})(?:s(\d))?$/.exec(location.hash);
    if (!found) return null;
    if (found[2] !== undefined && root.querySelector(`.eyes [data-seat="${found[2]}"]`)) seat = found[2];
    return Math.min(Number(found[1]), last);
  }

  /** The board with what is new in it marked; a board that is new as a whole has no marks. */
  function paint(board, earlier) {
    const lines = board.split("\n"), before = earlier === null ? lines : counterparts(lines, earlier.split("\n"));
    const changed = lines.reduce((sum, line, row) => sum + (line !== before[row]), 0);
    const marked = changed <= Math.max(5, lines.length * 0.5);
    picture.replaceChildren(...lines.flatMap((line, row) => [...(marked ? marks(line, before[row]) : [line]), "\n"]));
  }

  /** For each line the earlier line that it came from: by the longest common subsequence, and between those in order. */
  function counterparts(lines, old) {
    const length = Array.from({ length: lines.length + 1 }, () => new Uint16Array(old.length + 1));
    for (let i = lines.length - 1; i >= 0; i -= 1) {
      for (let k = old.length - 1; k >= 0; k -= 1) {
        length[i][k] = lines[i] === old[k] ? length[i + 1][k + 1] + 1 : Math.max(length[i + 1][k], length[i][k + 1]);
      }
    }
    const found = [];
    let k = 0;
    for (let i = 0; i < lines.length; i += 1) {
      if (k < old.length && lines[i] === old[k]) found.push(old[k++]);
      else if (k < old.length && length[i + 1][k + 1] >= Math.max(length[i][k + 1], length[i + 1][k])) found.push(old[k++]);
      else if (length[i + 1][k] >= (length[i][k + 1] ?? 0)) found.push("");
      else { k += 1; i -= 1; }
    }
    return found;
  }

  /** A line's text with the characters that differ from the earlier line in <mark>. */
  function marks(line, old) {
    const pieces = [];
    const same = (at) => line[at] === " " || line[at] === old[at];
    for (let at = 0, end = 1; at < line.length; at = end, end = at + 1) {
      while (end < line.length && same(end) === same(at)) end += 1;
      const text = line.slice(at, end);
      pieces.push(same(at) ? text : Object.assign(document.createElement("mark"), { textContent: text }));
    }
    return pieces;
  }

  async function show(wanted, { address = true } = {}) {
    n = Math.max(0, Math.min(last, wanted));
    let frames;
    try {
      frames = await film(seat);
    } catch {
      films.delete(seat);
      halt();
      $("[data-text]").textContent = "The positions cannot be fetched now.";
      return;
    }
    const [board, scores, actors, text, kind] = frames[n];
    paint(board, n > 0 ? frames[n - 1][0] : null);
    event.dataset.kind = kind;
    $("[data-who]").textContent = kind === "chance" ? "Chance" : actors.map((actor) => names[actor]).join(", ");
    $("[data-text]").textContent = text;
    $("[data-n]").textContent = n;
    seek.value = n;
    seek.setAttribute("aria-valuetext", `${n} of ${last}: ${text}`);
    for (const item of root.querySelectorAll("[data-score-of]")) {
      const number = Number(item.dataset.scoreOf);
      item.querySelector("b").textContent = String(scores[number]).replace("-", "−");
      item.classList.toggle("acts", actors.includes(number));
    }
    for (const eye of root.querySelectorAll(".eyes a")) {
      if (eye.dataset.seat === seat) eye.setAttribute("aria-current", "true");
      else eye.removeAttribute("aria-current");
    }
    if (address) history.replaceState(null, "", `${location.pathname}#${n}${seat === "" ? "" : `s${seat}`}`);
    if (n === last) halt();
  }

  function halt() {
    clearTimeout(timer);
    timer = null;
    play.setAttribute("aria-pressed", "false");
    play.setAttribute("aria-label", "Play");
  }

  function go() {
    if (n === last) n = -1;
    play.setAttribute("aria-pressed", "true");
    play.setAttribute("aria-label", "Pause");
    const tick = async () => {
      await show(n + 1);
      if (play.getAttribute("aria-pressed") === "true") timer = setTimeout(tick, Number($("[data-speed]").value));
    };
    tick();
  }

  const moves = {
    first: () => 0,
    back: () => n - 1,
    next: () => n + 1,
    last: () => last,
  };

  root.addEventListener("click", (click) => {
    const eye = click.target.closest(".eyes a"), button = click.target.closest("[data-go]");
    if (eye) {
      click.preventDefault();
      seat = eye.dataset.seat;
      show(n);
    } else if (button) {
      click.preventDefault();
      if (button === play) return play.getAttribute("aria-pressed") === "true" ? halt() : go();
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
    } else if (key.key === " " && !key.target.closest("a, button")) {
      key.preventDefault();
      play.getAttribute("aria-pressed") === "true" ? halt() : go();
    }
  });
  addEventListener("hashchange", () => {
    const wanted = fromAddress();
    if (wanted !== null) { halt(); show(wanted, { address: false }); }
  });

  show(n, { address: false });
}
