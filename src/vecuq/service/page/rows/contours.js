// Contours: lines of equal height of a function on a grid, by marching squares.

// Which sides of a cell a line joins, by which of its corners are above: 1 top left, 2 top right, 4 bottom right, 8 bottom left.
const JOINED = [[], [[3, 0]], [[0, 1]], [[3, 1]], [[1, 2]], [[3, 0], [1, 2]], [[0, 2]], [[3, 2]], [[2, 3]], [[2, 0]], [[0, 1], [2, 3]], [[2, 1]], [[1, 3]], [[1, 0]], [[0, 3]], []];

/** Return pieces [[x1, y1, x2, y2] ...] in cells of the grid; heights[j * across + i], NaN where unknown. */
export function contour(heights, across, level) {
  const pieces = [];
  const down = heights.length / across;
  for (let j = 0; j + 1 < down; j++) {
    for (let i = 0; i + 1 < across; i++) {
      const at = j * across + i;
      const corners = [heights[at], heights[at + 1], heights[at + across + 1], heights[at + across]];
      if (corners.some(Number.isNaN)) continue;
      const key = corners.reduce((sum, height, k) => sum + (height > level ? 2 ** k : 0), 0);
      for (const [from, to] of JOINED[key]) pieces.push([...side(corners, from, level, i, j), ...side(corners, to, level, i, j)]);
    }
  }
  return pieces;
}

/** Where a level is crossed on a side of a cell: 0 top, 1 right, 2 bottom, 3 left. */
function side([a, b, c, d], which, level, i, j) {
  const part = (from, to) => (level - from) / (to - from);
  if (which === 0) return [i + part(a, b), j];
  if (which === 1) return [i + 1, j + part(b, c)];
  if (which === 2) return [i + part(d, c), j + 1];
  return [i, j + part(a, d)];
}
