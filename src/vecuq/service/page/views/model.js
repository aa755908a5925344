// Model: what it is, what it promises, and what it was calibrated on.

import { html } from "../html.js";
import { Facts } from "../ui.js";

export const keys = [];

export function View({ model }) {
  return html`<section class="card"><h2>${model.name}</h2>
    <${Facts} facts=${[["kind", model.kind], ["columns", model.columns.join(", ")], ["checksum", model.checksum]]} />
  </section>`;
}
