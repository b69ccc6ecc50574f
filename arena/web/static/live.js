// A running match's page: what a spectator may see comes as server-sent events, and goes on as the finished match's page.

import { mount } from "./viewer.js";

const root = document.querySelector("[data-replay]");
const board = root.dataset.board ? await import(root.dataset.board) : null;
let viewer = null;

const stream = new EventSource(root.dataset.replay);
stream.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.over) {
    stream.close();
    document.querySelector("[data-state]").textContent = "over";
    setTimeout(() => location.reload(), viewer ? 1500 : 0);
  } else if (message.film && viewer) location.reload();
  else if (message.film) {
    root.dataset.last = message.film.frames.length - 1;
    viewer = mount(root, { fetchFilm: async () => message.film, board, n: message.film.frames.length - 1 });
  } else viewer?.append(message.frames);
};
