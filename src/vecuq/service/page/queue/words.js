// Words: what a label is called, drawn and sent as, and what it does in each of the two queues.

export const KINDS = {
  review: {
    title: "Review",
    what: "Rows that were deferred, the most uncertain first. Labels here help people and never count towards the proven bound. A later label replaces an earlier one.",
    empty: ["Nothing to review", "No row waits. Rows come here when they are scored with an id and are not accepted."],
  },
  audit: {
    title: "Audit sample",
    what: "Accepted rows, drawn at random. Labels here feed the proven bound: each counts once and is final once it is sent. A row that waits too long counts as wrong.",
    empty: ["No audit row waits", "Every row that was drawn has its label. New ones are drawn at random among the rows that the gate accepts."],
  },
};

export const LABELS = {
  right: { word: "Right", key: "r", mark: "✓", badge: "right", says: { correct: true } },
  wrong: { word: "Wrong", key: "w", mark: "✗", badge: "wrong", says: { correct: false } },
  ood: { word: "Out-of-distribution", short: "OOD", key: "o", mark: "◇", badge: "audit", says: { ood: true } },
};

/** Return which label a feedback is. */
export const labelOf = ({ correct, ood }) => (correct === true ? LABELS.right : correct === false ? LABELS.wrong : ood ? LABELS.ood : null);

/** What became of a label, in a word. */
export const STATUS = { waiting: "can be undone", sending: "sending", failed: "not sent", sent: "sent" };
