// A match's page: fetches its films, loads the drawing of its game, and hands both to the viewer.

import { mount } from "./viewer.js";

const root = document.querySelector("[data-replay]");
if (root) {
  const fetchFilm = async (eyes) => {
    const response = await fetch(`${root.dataset.replay}?eyes=${eyes}`);
    if (!response.ok) throw new Error(`${response.status}`);
    return response.json();
  };
  mount(root, { fetchFilm, board: root.dataset.board ? await import(root.dataset.board) : null });
}
