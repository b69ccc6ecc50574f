// The evaluation strip: what the bots expected, as they noted it, over the whole match; a click seeks.

import { h } from "./boards/kit.js";

const WIDTH = 1000, HEIGHT = 84, TOP = 8, BOTTOM = 76;
const DASHES = ["", "7 4", "2 4", "10 3 2 3", "5 2"];

/** Draws the film's evaluations into `svg` with a cursor at `n`; hidden if no bot noted any. */
export function strip(svg, film, n, seek) {
  if (svg.film !== film) build(svg, film, seek);
  svg.querySelector(".cursor")?.setAttribute("transform", `translate(${x(n, film)} 0)`);
}

function x(at, film) {
  return film.frames.length < 2 ? 0 : (at / (film.frames.length - 1)) * WIDTH;
}

function y(milli) {
  return TOP + ((1000 - milli) / 2000) * (BOTTOM - TOP);
}

function build(svg, film, seek) {
  svg.film = film;
  const curves = film.seats.map(() => []);
  for (const frame of film.frames) {
    for (const [seat, note] of Object.entries(frame.notes)) if (note.eval !== undefined) curves[seat].push([x(frame.n, film), y(note.eval)]);
  }
  const any = curves.some((curve) => curve.length);
  svg.toggleAttribute("hidden", !any);
  if (!any) return svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `What the bots expected, from loss below to win above: ${curves.map((curve, seat) => (curve.length ? film.seats[seat].bot : null)).filter(Boolean).join(", ")}`);
  svg.replaceChildren(
    h("path", { class: "zero", d: `M0 ${y(0)}H${WIDTH}` }),
    ...curves.flatMap((curve, seat) => (curve.length === 0 ? [] : [
      h("path", { class: `curve hue-${film.seats[seat].hue}`, "stroke-dasharray": DASHES[seat % DASHES.length] || null, d: `M${curve.map((point) => point.map((v) => v.toFixed(1)).join(" ")).join("L")}` }),
    ])),
    h("path", { class: "cursor", d: `M0 0V${HEIGHT}` }));
  svg.onclick = (click) => {
    const box = svg.getBoundingClientRect();
    seek(Math.round(((click.clientX - box.left) / box.width) * (film.frames.length - 1)));
  };
}
