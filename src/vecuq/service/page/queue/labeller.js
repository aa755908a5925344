// Labeller: who labels. Requested once, before the first label, and kept until the tab is closed.

import { html, useRef, useState } from "../html.js";
import { Dialog, toast } from "../ui.js";

const PLACE = "vecuq-who";
const known = () => sessionStorage.getItem(PLACE); // "" means: without a name

/** Return {who, whenKnown, change, dialog, form}: whenKnown(next) calls next(who), or says that the form comes first. */
export function useLabeller() {
  const [who, setWho] = useState(known());
  const [asking, setAsking] = useState(false);
  const closeToast = useRef(() => {});
  const whenKnown = (next) => {
    closeToast.current();
    if (known() !== null) next(known());
    else closeToast.current = toast("First say who labels, at the top. Nothing was labelled.");
  };
  const answer = (name) => {
    closeToast.current();
    sessionStorage.setItem(PLACE, name);
    setWho(name);
    setAsking(false);
  };
  const form = who === null && html`<section class="card q-who" aria-labelledby="who-labels"><h2 id="who-labels">Who labels?</h2><${WhoForm} who="" answer=${answer} /></section>`;
  const dialog = asking && html`<${Dialog} title="Who labels?" onClose=${() => setAsking(false)}><${WhoForm} who=${who} answer=${answer} autofocus /><//>`;
  return { who, whenKnown, change: () => setAsking(true), dialog, form };
}

/** It takes no focus by itself on the page: the next keys might be labels. */
function WhoForm({ who, answer, autofocus = false }) {
  const typed = useRef();
  const submit = (event) => { event.preventDefault(); answer(typed.current.value.trim()); };
  return html`<form onSubmit=${submit}>
    <label class="field">Your name or initials
      <input ref=${typed} type="text" name="who" autocomplete="name" maxlength="100" value=${who ?? ""} required autofocus=${autofocus} /></label>
    <p class="soft small">It is stored with each label, so that others know whom to ask. This tab remembers it until it is closed.</p>
    <div class="actions"><button class="primary">Continue</button>
      <button type="button" class="plain" onClick=${() => answer("")}>Label without a name</button></div>
  </form>`;
}
