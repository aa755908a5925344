// Requests to the service. A refusal becomes a Refused with one clear line; a missing key is requested once.

const KEY = "vecuq-key";
let keyAsker = null; // set by the app: (refused) => Promise<string | null>

/** An answer that is no success: what went wrong in one sentence, a word for programs, and the id in the logs. */
export class Refused extends Error {
  constructor(status, { error = "failed", message = "", request_id = "" } = {}) {
    super(message || `The service answered ${status || "nothing"}.`);
    Object.assign(this, { status, error, requestId: request_id });
  }
}

export const stored = { key: () => sessionStorage.getItem(KEY), forget: () => sessionStorage.removeItem(KEY) };
export const whenKeyIsNeeded = (asker) => (keyAsker = asker);
export const modelPath = (name, rest = "") => `/models/${encodeURIComponent(name)}${rest}`;

/** Return what the service says at a path, from JSON. */
export async function get(path, { signal } = {}) {
  return (await request(path, { signal })).json();
}

/** Send a JSON body; return the answer from JSON. */
export async function post(path, body, { signal } = {}) {
  const headers = { "content-type": "application/json" };
  return (await request(path, { method: "POST", headers, body: JSON.stringify(body), signal })).json();
}

/** Return the Response of a request that succeeded; throw Refused otherwise. */
export async function request(path, options = {}) {
  return withKey(async (headers) => {
    const answer = await fetch(path, { ...options, headers: { ...options.headers, ...headers } }).catch(unreachable);
    if (!answer.ok) throw new Refused(answer.status, bodyOf(await answer.text()));
    return answer;
  });
}

/**
 * Send a large body and return the answer's bytes. fetch() does not report how much was sent, so this is an
 * XMLHttpRequest. progress({phase: "sending" | "waiting" | "reading", done, total}) is called on the way.
 */
export function send(path, body, { type, accept, progress = () => {}, signal } = {}) {
  return withKey((headers) => new Promise((done, failed) => {
    const sender = new XMLHttpRequest();
    sender.open("POST", path);
    sender.responseType = "arraybuffer";
    for (const [name, value] of Object.entries({ "content-type": type, accept, ...headers })) {
      if (value) sender.setRequestHeader(name, value);
    }
    sender.upload.onprogress = ({ loaded, total }) => progress({ phase: "sending", done: loaded, total });
    sender.upload.onload = () => progress({ phase: "waiting", done: 0, total: 0 });
    sender.onprogress = ({ loaded, total }) => progress({ phase: "reading", done: loaded, total });
    sender.onload = () => {
      if (sender.status === 200) return done(new Uint8Array(sender.response));
      failed(new Refused(sender.status, bodyOf(new TextDecoder().decode(sender.response))));
    };
    sender.onerror = () => failed(new Refused(0, UNREACHABLE));
    sender.onabort = () => failed(new DOMException("Cancelled.", "AbortError"));
    signal?.addEventListener("abort", () => sender.abort(), { once: true });
    sender.send(body);
  }));
}

/** Make a request with the key, if there is one; if the service wants another, ask for it and try again. */
async function withKey(attempt) {
  for (;;) {
    const key = stored.key();
    try {
      return await attempt(key ? { authorization: `Bearer ${key}` } : {});
    } catch (failure) {
      if (failure.status !== 401 || !keyAsker) throw failure;
      const given = stored.key() !== key ? stored.key() : await keyAsker(failure);
      if (!given) throw failure;
      sessionStorage.setItem(KEY, given);
    }
  }
}

const UNREACHABLE = { error: "unreachable", message: "The service cannot be reached. Is it still running?" };

function unreachable(failure) {
  if (failure.name === "AbortError") throw failure;
  throw new Refused(0, UNREACHABLE);
}

/** Return the ErrorBody of an answer; nothing where it is none. */
function bodyOf(text) {
  try {
    const found = JSON.parse(text);
    return typeof found?.message === "string" ? found : {};
  } catch {
    return {};
  }
}
