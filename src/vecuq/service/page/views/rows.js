// Rows: score a file or pasted rows, and work through them, most uncertain first.

import { html, useRef, useState } from "../html.js";
import { failed, forgetErrors } from "../ui.js";
import { fromFile, mapAsked, named, scoredTable } from "../rows/intake.js";
import { Progress, Start, useDrop } from "../rows/start.js";
import { Work } from "../rows/work.js";

export const keys = [
  ["↑ ↓", "move through the rows"], ["PgUp PgDn", "a page up or down"], ["Home End", "first and last row"], ["Enter", "open the row"],
  ["/", "search"], ["r w", "mark the row right or wrong, and go on to the next"], ["u", "undo the last mark"],
];

export function View({ model, active }) {
  const [state, setState] = useState({ step: "start" });
  const [by, setBy] = useState("");
  const [map, setMap] = useState("");
  const running = useRef(null);
  const begin = async (came) => {
    running.current?.abort();
    forgetErrors();
    const stop = new AbortController();
    running.current = stop;
    setState({ step: "running", name: came.name, phase: "sending", done: 0, total: 0 });
    const progress = (now) => stop.signal.aborted || setState({ step: "running", name: came.name, ...now });
    try {
      const table = await scoredTable(came, model, { by, map: model.isAnswers ? map : "", progress, signal: stop.signal });
      if (stop.signal.aborted) return;
      setState({ step: "done", name: came.name, table });
    } catch (failure) {
      if (stop.signal.aborted) return;
      const asked = model.isAnswers ? mapAsked(failure) : null;
      setState({ step: "start", again: asked !== null || (model.isAnswers && map) ? came : null });
      if (asked && !map) setMap(asked); // but never over what somebody typed
      failed(named(failure, came));
    }
  };
  const cancel = () => { running.current?.abort(); setState({ step: "start" }); };
  const over = useDrop((file) => fromFile(file).then(begin, failed), active && state.step === "done");
  if (state.step === "start") return html`<${Start} ...${{ model, by, setBy, map, setMap, again: state.again, begin, active }} />`;
  if (state.step === "running") return html`<${Progress} ...${state} cancel=${cancel} />`;
  return html`${over && html`<div class="drop-hint" aria-hidden="true">Drop to score this file</div>`}
    <${Work} key=${state.table} table=${state.table} model=${model} source=${state.name} by=${by} active=${active} close=${() => setState({ step: "start" })} />`;
}
