// Live: see the next commit.

import { html } from "../html.js";
import { Empty } from "../ui.js";

export const keys = [];

/** model: its description; active: whether this view is on screen. */
export function View({ model, active }) {
  return html`<${Empty} title="Live"><p>Nothing here yet for ${model.name}${active ? "" : " "}.</p><//>`;
}
