// A position as text, with what is new in it marked: for games without a board of their own, and for those who like text better.

/** A function that paints lines into `picture`, given the lines before them or null; a text that is new as a whole has no marks. */
export function textBoard(picture) {
  return (lines, earlier) => {
    const before = earlier === null ? lines : counterparts(lines, earlier);
    const changed = lines.reduce((sum, line, row) => sum + (line !== before[row]), 0);
    const marked = changed <= Math.max(5, lines.length * 0.5);
    picture.replaceChildren(...lines.flatMap((line, row) => [...(marked ? marks(line, before[row]) : [line]), "\n"]));
  };
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
