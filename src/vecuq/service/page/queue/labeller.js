// Labeller: who labels. Requested once, with the first label, and kept until the tab is closed.

import { html, useRef, useState } from "../html.js";
import { Dialog } from "../ui.js";

const PLACE = "vecuq-who";
const known = () => sessionStorage.getItem(PLACE); // "" means: without a name

/** Return {who, whenKnown, change, dialog}: whenKnown(next) calls next(who) at once, or after the dialog. */
export function useLabeller() {
  const [who, setWho] = useState(known());
  const [then, setThen] = useState(null);
  const whenKnown = (next) => (known() === null ? setThen(() => next) : next(known()));
  const answer = (name) => {
    sessionStorage.setItem(PLACE, name);
    setWho(name);
    setThen(null);
    then(name);
  };
  const dialog = then && html`<${WhoDialog} who=${who} answer=${answer} cancel=${() => setThen(null)} />`;
  return { who, whenKnown, change: () => setThen(() => () => {}), dialog };
}

function WhoDialog({ who, answer, cancel }) {
  const typed = useRef();
  const submit = (event) => { event.preventDefault(); answer(typed.current.value.trim()); };
  return html`<${Dialog} title="Who labels?" onClose=${cancel}>
    <form onSubmit=${submit}>
      <label class="field">Your name or initials
        <input ref=${typed} type="text" name="who" autocomplete="name" maxlength="100" value=${who ?? ""} required autofocus /></label>
      <p class="soft">It is stored with each label, so that others know whom to ask. This tab remembers it until it is closed.</p>
      <div class="actions"><button class="primary">Continue</button>
        <button type="button" class="plain" onClick=${() => answer("")}>Label without a name</button></div>
    </form><//>`;
}
