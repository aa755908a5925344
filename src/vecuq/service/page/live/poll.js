// Poll: ask again and again, but only while somebody looks; an answer that fails is asked for again, more slowly.

import { useEffect, useRef, useState } from "../html.js";

const SLOWEST = 30;

/** Return [result, failure, at]: at is when the result came. A failure leaves the last result where it is. */
export function usePoll(load, { seconds, active, inputs }) {
  const [state, setState] = useState({ result: null, failure: null, at: null });
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => setState({ result: null, failure: null, at: null }), inputs);
  useEffect(() => {
    if (!active) return undefined;
    const stop = new AbortController();
    let [timer, failures, asking] = [0, 0, false];
    const ask = async () => {
      clearTimeout(timer);
      if (document.hidden || asking || stop.signal.aborted) return;
      asking = true;
      try {
        const result = await latest.current(stop.signal);
        failures = 0;
        if (!stop.signal.aborted) setState({ result, failure: null, at: Date.now() });
      } catch (failure) {
        failures += 1;
        if (!stop.signal.aborted) setState((old) => ({ ...old, failure }));
      }
      asking = false;
      if (!stop.signal.aborted) timer = setTimeout(ask, 1000 * Math.min(seconds * 2 ** failures, Math.max(SLOWEST, seconds)));
    };
    document.addEventListener("visibilitychange", ask);
    ask();
    return () => { stop.abort(); clearTimeout(timer); document.removeEventListener("visibilitychange", ask); };
  }, [active, seconds, ...inputs]);
  return [state.result, state.failure, state.at];
}
