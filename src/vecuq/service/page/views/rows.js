// Rows: score a file or pasted rows, and work through them, most uncertain first.

import { html } from "../html.js";
import { Empty } from "../ui.js";

export const keys = [];

export function View({ model }) {
  return html`<${Empty} title="Rows"><p>Drop a file to score it with ${model.name}.</p><//>`;
}
