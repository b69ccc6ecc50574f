// Which seats are this browser's. A seat's secret comes in the part of the address that is never sent, is taken out of it at once (an
// address is what people share), and is kept in this tab, and for a return in this browser.

const KEY = "arena seats", KEPT = 40;

function all() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

/** The secret of a seat at a table, or nothing. */
export function secretOf(table) {
  const here = sessionStorage.getItem(`arena seat ${table}`);
  return here ?? all().find(([id]) => id === table)?.[1] ?? "";
}

/** Remembers a secret; an empty one is forgotten. */
export function keepSecret(table, secret) {
  sessionStorage.setItem(`arena seat ${table}`, secret);
  const others = all().filter(([id]) => id !== table);
  localStorage.setItem(KEY, JSON.stringify(secret ? [[table, secret], ...others].slice(0, KEPT) : others));
}

/** Takes what the address says: a seat's secret, which is kept, or an invitation, which is given back. */
export function fromAddress(table) {
  const [, kind, word] = /^#(seat|join)=([\w-]+)$/.exec(location.hash) ?? [];
  if (kind === "seat") keepSecret(table, word);
  if (kind === "seat" || secretOf(table)) history.replaceState(null, "", location.pathname);
  return kind === "join" && !secretOf(table) ? word : "";
}
