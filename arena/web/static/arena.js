// Makes pages live. Everything here is an extra: without it pages show the same and links work.

const main = document.getElementById("main");
const still = matchMedia("(prefers-reduced-motion: reduce)");

// ---------------------------------------------------------------- times

const STEPS = [[60, "s", 1], [3600, "min", 60], [172800, "h", 3600], [Infinity, "d", 86400]];

function tellTimes(root = document) {
  for (const time of root.querySelectorAll("time[data-ago]")) {
    const seconds = Math.max(0, (Date.now() - Date.parse(time.dateTime)) / 1000);
    const [, unit, size] = STEPS.find(([limit]) => seconds < limit);
    const text = seconds < 5 ? "now" : `${Math.floor(seconds / size)} ${unit} ago`;
    if (time.textContent !== text) {
      time.title ||= new Date(time.dateTime).toLocaleString();
      time.textContent = text;
    }
  }
}
tellTimes();
setInterval(tellTimes, 1000);

// ---------------------------------------------------------------- live parts

function element(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content.firstElementChild;
}

/** Puts `html` where `old` is, and keeps the keyboard where it was. */
function swap(old, html) {
  const made = element(html);
  const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  old.replaceWith(made);
  if (focused !== null) [...made.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
  tellTimes(made);
  return made;
}

function rating(row) {
  return row?.querySelector(".elo b")?.textContent;
}

/** Brings a list's children up to date, and lets those that change places glide there. */
function arrange(list, { order, rows }) {
  const before = new Map([...list.children].map((child) => [child.id, child.getBoundingClientRect().top]));
  for (const [id, html] of Object.entries(rows)) {
    const old = document.getElementById(id);
    if (!old) { tellTimes(list.appendChild(element(html))); continue; }
    const was = rating(old), made = swap(old, html);
    if (was !== undefined && was !== rating(made)) made.classList.add("flash");
  }
  const wanted = new Set(order);
  for (const child of [...list.children]) if (!wanted.has(child.id)) child.remove();
  order.forEach((id, at) => {
    const child = document.getElementById(id);
    if (child && list.children[at] !== child) list.insertBefore(child, list.children[at] ?? null);
  });
  list.dispatchEvent(new CustomEvent("arranged"));
  // Where most of a list is new, as when matches end by the dozen, moving all of it would only be noise.
  const kept = [...list.children].filter((child) => before.has(child.id)).length;
  if (still.matches || document.hidden || kept < list.children.length / 2) return;
  for (const child of list.children) {
    const from = before.get(child.id), to = child.getBoundingClientRect().top;
    if (from === undefined) child.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 400 });
    else if (Math.abs(from - to) > 1) {
      child.animate([{ transform: `translateY(${from - to}px)` }, { transform: "none" }], { duration: 450, easing: "cubic-bezier(.2,.7,.2,1)" });
    }
  }
}

/** Fetches the page anew. It may come from a moment ago: until it is built around `skeleton` it is fetched again, a few times. */
async function renew(skeleton, tries = 5) {
  const response = await fetch(location.href);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (page.querySelector("link[rel=stylesheet]").href !== document.querySelector("link[rel=stylesheet]").href) {
    location.reload();
    return;
  }
  const fresh = page.getElementById("main");
  Object.assign(main.dataset, fresh.dataset);
  main.replaceChildren(...fresh.childNodes);
  tellTimes(main);
  enhance();
  if (main.dataset.skeleton !== skeleton && tries > 0) setTimeout(() => renew(skeleton, tries - 1), 1000);
}

/** Whether the message could be applied; if not, this page shows something else than what the message changes. */
function apply(message) {
  if (message.base !== null && message.base !== main.dataset.version) return false;
  if (message.skeleton !== main.dataset.skeleton) { renew(message.skeleton); return true; }
  main.dataset.version = message.version;
  for (const [id, html] of Object.entries(message.blocks)) {
    const old = document.getElementById(id);
    if (old) swap(old, html);
  }
  for (const [id, list] of Object.entries(message.lists)) {
    const old = document.getElementById(id);
    if (old) arrange(old, list);
    else if (list.order.length) renew(message.skeleton);
  }
  return true;
}

function follow(topic) {
  const pulse = document.getElementById("pulse"), word = pulse.querySelector(".word");
  let source = null;
  const show = (live) => {
    pulse.hidden = false;
    pulse.classList.toggle("off", !live);
    const text = live ? "live" : "reconnecting";
    if (word.textContent !== text) word.textContent = text;
  };
  const open = () => {
    source = new EventSource(`/live?topic=${encodeURIComponent(topic)}&version=${main.dataset.version}`);
    source.onopen = () => show(true);
    source.onmessage = (event) => {
      pulse.classList.remove("beat");
      void pulse.offsetWidth;
      pulse.classList.add("beat");
      if (!apply(JSON.parse(event.data))) { source.close(); open(); }
    };
    source.onerror = () => {
      show(false);
      // The browser would come back with the version that the page had at first.
      source.close();
      source = null;
      setTimeout(() => { if (!source && !document.hidden) open(); }, 1500 + Math.random() * 2000);
    };
  };
  // A page that nobody sees needs no stream; coming back it gets what it missed.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source?.close(); source = null; } else if (!source) open();
  });
  addEventListener("pagehide", () => { source?.close(); source = null; });
  addEventListener("pageshow", (event) => { if (event.persisted && !source) open(); });
  if (!document.hidden) open();
}

// ---------------------------------------------------------------- tables

function filterable(form) {
  const input = form.querySelector("input"), only = form.querySelector("[data-only]"), list = document.getElementById(form.dataset.filter);
  if (!list || !input) return;
  const none = document.getElementById(`${list.id}-none`);
  if (only) only.hidden = false;
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of list.children) {
      row.hidden = !words.every((word) => row.dataset.search.includes(word)) || (only?.value && !row.dataset.is.split(" ").includes(only.value));
      shown += !row.hidden;
    }
    if (none) none.hidden = shown > 0;
  };
  input.addEventListener("input", filter);
  only?.addEventListener("change", filter);
  list.addEventListener("arranged", filter);
  filter();
}

function sortable(table) {
  const list = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  let column = -1, up = false;
  const value = (row) => Number(row.cells[column].dataset.sort ?? row.cells[column].textContent);
  const sort = () => {
    if (column < 0) return;
    const key = column === 0 ? (row) => Number(row.dataset.rank) : value;
    const rows = [...list.rows].sort((a, b) => (up ? 1 : -1) * (key(a) - key(b)));
    rows.forEach((row, at) => { if (list.rows[at] !== row) list.insertBefore(row, list.rows[at]); });
  };
  heads.forEach((head, at) => {
    if (at !== 0 && !list.rows[0]?.cells[at].dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      up = column === at ? !up : at === 0;
      column = at;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sort();
    });
  });
  list.addEventListener("arranged", sort);
}

function enhance() {
  document.querySelectorAll("form[data-filter]").forEach(filterable);
  document.querySelectorAll("table[data-sortable]").forEach(sortable);
}

enhance();
if (main.dataset.topic) follow(main.dataset.topic);

// "/" goes to the search box, as everywhere.
document.addEventListener("keydown", (event) => {
  const box = document.querySelector(".find input");
  if (event.key === "/" && box && !/^(input|select|textarea)$/i.test(event.target.tagName)) {
    event.preventDefault();
    box.focus();
  }
});
