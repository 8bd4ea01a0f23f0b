/**
 * What was decided and is not yet acknowledged by the server. Each entry is in localStorage before it is sent, and leaves
 * it when the server has said that it is stored; so neither a dead server nor a closed tab nor an expired session loses it.
 *
 * One entry per label. Its `head` may have reached the server although no reply came back, so it is sent again unchanged,
 * under the same idempotency key, until there is an answer; what was chosen since then waits in `tail` and takes the
 * revision that the answer names. What was chosen in a task while a request with its labels was under way travels together
 * in the next one, and with its submission, where that waits already. The server takes all that travels together or nothing;
 * if nothing, each label goes alone, so that each gets its own answer. Skipping waits until the labels of the task are through.
 *
 * @typedef {{key: string, base: number, sent: boolean, value: unknown, cant_tell: string, comment: string, evidence: object[],
 *   active_seconds: number, active_ms: number, guideline_version: number|null}} Change
 * @typedef {{kind: "label", at: number, task: number, unit: string, criterion: string, title: string, head: Change, tail: Change|null}} LabelEntry
 * @typedef {{kind: "finish", at: number, task: number, action: "submit"|"skip", reason: string, active_seconds: number, scope: string, tried?: boolean}} FinishEntry
 * @typedef {LabelEntry|FinishEntry} Entry
 * @typedef {import("../base/request.js").Reply} Reply
 */

import { sameSaid, saidOf } from "./history.js";

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
// As many still outlive their page (request.js).
const MOST_TOGETHER = 20;
const ASIDE = "touchstone.unreadable.";
const FINISHES = { submit: true, skip: true };

// Nothing gets through, and everything is kept.
const TROUBLES = new Set(["away", "logged-out", "ended"]);

const idOf = (entry) => (entry.kind === "label" ? `label.${entry.task}.${entry.unit}.${entry.criterion}` : `finish.${entry.task}`);

/** An entry as it was stored, or null: half written, edited by hand, or of another kind. @param {string} text @returns {Entry|null} */
function parsed(text) {
  try {
    const entry = JSON.parse(text);
    const whole = entry.kind === "label" ? typeof entry.head.key === "string" : entry.kind === "finish" && entry.action in FINISHES;
    return whole && Number.isInteger(entry.task) ? entry : null;
  } catch {
    return null;
  }
}

/** Two tabs that say the same don't disagree. */
const agree = (mine, theirs) => theirs !== null && sameSaid(saidOf(mine), saidOf(theirs));

/** crypto.randomUUID exists on https and localhost only; a Touchstone in a hospital's LAN may be plain http. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

export class Outbox {
  /** @type {Map<string, Entry>} */ #entries = new Map();
  /** @type {Map<string, Reply>} */ #conflicts = new Map();
  #inFlight = new Set();
  /** Labels that were refused with others. */ #alone = new Set();
  /** @type {Reply["outcome"]|null} one of TROUBLES */ #trouble = null;
  /** Why nothing may be sent from here any more, in the server's words. */ ended = "";
  #failures = 0;
  #timer = 0;
  /** What this browser refused to keep: then, and only then, closing the page can lose something. */ #unkept = new Set();
  /** What was kept but can't be read any more. It is never sent, and put aside under these names. @type {string[]} */ broken = [];

  /**
   * @param {object} wiring
   * @param {number} wiring.userId
   * @param {ReturnType<typeof import("./api.js").createApi>} wiring.api
   * @param {(entry: FinishEntry) => number[]} wiring.exclude
   * @param {{changed(): void, saved(entry: LabelEntry, label: object|null): void, conflict(entry: LabelEntry, reply: Reply): void,
   *   finished(entry: FinishEntry, reply: Reply): void, refused(entry: Entry, reply: Reply): void}} wiring.on
   */
  constructor({ userId, api, exclude, on }) {
    this.userId = userId;
    this.prefix = `touchstone.outbox.${userId}.`;
    this.api = api;
    this.exclude = exclude;
    this.on = on;
    this.#load();
  }

  /** @returns {"saved"|"saving"|"waiting"|"logged-out"|"ended"|"conflict"} */
  get state() {
    if (this.#trouble === "ended") return "ended";
    if (this.#conflicts.size) return "conflict";
    if (this.#trouble === "logged-out") return "logged-out";
    if (!this.#entries.size) return "saved";
    return this.#trouble === "away" ? "waiting" : "saving";
  }

  /** Whether everything that waits would be there again after the page was closed. */
  get isKept() {
    return ![...this.#entries.keys()].some((id) => this.#unkept.has(id));
  }

  /** Labels of a task that the server may not know yet. @param {number} task @returns {LabelEntry[]} */
  labelsOf(task) {
    return [...this.#entries.values()].filter((entry) => entry.kind === "label").filter((entry) => entry.task === task);
  }

  /** Whether anything waits to be sent, or could not be read. */
  get holds() {
    return this.#entries.size + this.broken.length > 0;
  }

  /** @returns {FinishEntry[]} */
  get finishing() {
    return [...this.#entries.values()].filter((entry) => entry.kind === "finish");
  }

  /**
   * @param {{task: number, unit: string, criterion: string, title: string}} which
   * @param {{value: unknown, cant_tell: string, comment: string, evidence: object[], active_seconds: number, active_ms: number, guideline_version: number|null}} said
   * @param {number} revision of the label as it was seen here
   */
  putLabel(which, said, revision) {
    const id = idOf({ kind: "label", ...which });
    const there = /** @type {LabelEntry|undefined} */ (this.#entries.get(id));
    const entry = there ?? { kind: "label", at: Date.now(), ...which, head: null, tail: null };
    const change = { ...said, key: uuid(), sent: false, base: entry.head?.base ?? revision };
    if (entry.head?.sent) entry.tail = change;
    else entry.head = change;
    this.#keep(entry);
    if (this.#conflicts.has(id)) this.on.conflict(entry, this.#conflicts.get(id));
    this.flush();
  }

  /** @param {Omit<FinishEntry, "kind"|"at">} finish */
  putFinish(finish) {
    this.#keep({ kind: "finish", at: Date.now(), ...finish });
    this.flush();
  }

  /** Takes back what was never sent. @param {number} task @returns {boolean} whether that was so */
  withdraw(task) {
    const entry = this.finishing.find((one) => one.task === task);
    if (!entry || entry.tried) return false;
    this.#drop(entry);
    this.on.changed();
    return true;
  }

  /** The first conflict that waits for a person, if any. @returns {[LabelEntry, Reply]|null} */
  get conflict() {
    for (const [id, reply] of this.#conflicts) return [/** @type {LabelEntry} */ (this.#entries.get(id)), reply];
    return null;
  }

  /** @param {LabelEntry} entry @param {"mine"|"theirs"} choice */
  resolve(entry, choice) {
    const id = idOf(entry);
    const current = this.#conflicts.get(id)?.data?.current ?? null;
    this.#conflicts.delete(id);
    if (choice === "mine") {
      entry.head = { ...(entry.tail ?? entry.head), key: uuid(), sent: false, base: current?.revision ?? 0 };
      entry.tail = null;
      this.#keep(entry);
    } else {
      this.#drop(entry);
      this.on.saved(entry, current);
    }
    this.flush();
  }

  /** A reply to some other request told us how the server is. @param {Reply} reply */
  heard(reply) {
    const trouble = TROUBLES.has(reply.outcome) ? reply.outcome : null;
    if (trouble === "ended") this.ended = reply.message;
    const changed = trouble !== this.#trouble;
    this.#trouble = trouble;
    if (trouble === null) this.#failures = 0;
    if (changed) this.flush();
  }

  /** Sends what can be sent. While the server is away only one entry at a time asks whether it is back. */
  flush() {
    for (const { task } of [...this.#entries.values()]) {
      if (this.#trouble && this.#inFlight.size) break;
      const together = this.#next(task);
      if (together.length) void this.#send(together);
    }
    this.on.changed();
  }

  /** What of a task goes in the next request: labels, and its submission behind them. @param {number} task @returns {Entry[]} */
  #next(task) {
    const labels = this.labelsOf(task);
    if (labels.some((entry) => this.#inFlight.has(idOf(entry)))) return [];
    const free = labels.filter((entry) => !this.#conflicts.has(idOf(entry)));
    const single = free.find((entry) => this.#alone.has(idOf(entry)));
    const together = single ? [single] : free.slice(0, MOST_TOGETHER);
    const finish = this.finishing.find((entry) => entry.task === task);
    // One after the other, so that each reply can bring a task that the others don't.
    if (!finish || this.finishing.some((entry) => this.#inFlight.has(idOf(entry)))) return together;
    if (!labels.length) return [finish];
    // While the server is away, what was never sent can still be taken back.
    const isAll = together.length === labels.length && !single && labels.every((entry) => !entry.tail);
    return isAll && finish.action === "submit" && !this.#trouble ? [...together, finish] : together;
  }

  /** @param {Entry[]} together */
  async #send(together) {
    for (const entry of together) {
      this.#inFlight.add(idOf(entry));
      if (entry.kind === "label" && !entry.head.sent) {
        entry.head.sent = true;
        this.#keep(entry);
      } else if (entry.kind === "finish" && !entry.tried) {
        entry.tried = true;
        this.#keep(entry);
      }
    }
    const kept = together.map((entry) => JSON.stringify(entry));
    const reply = await this.#request(together);
    for (const entry of together) this.#inFlight.delete(idOf(entry));
    this.#settle(together, reply, kept);
  }

  #request(together) {
    const labels = together.filter(({ kind }) => kind === "label");
    const finish = together.find(({ kind }) => kind === "finish");
    if (finish) return this.api.finish(finish, this.exclude(finish), labels);
    return labels.length > 1 ? this.api.postLabels(labels) : this.api.putLabel(labels[0]);
  }

  #settle(together, reply, kept) {
    if (reply.outcome === "ended") this.ended = reply.message;
    if (TROUBLES.has(reply.outcome)) return this.#failed(together, reply.outcome);
    this.#trouble = null;
    this.#failures = 0;
    if (together.length > 1 && reply.outcome !== "ok") {
      for (const entry of together) if (entry.kind === "label") this.#alone.add(idOf(entry));
    } else {
      together.forEach((entry, place) => this.#settleOne(entry, reply, kept[place], reply.data?.labels?.[place] ?? reply.data));
    }
    this.flush();
  }

  /** @param {any} label of an entry that is one: as the server has it now */
  #settleOne(entry, reply, kept, label) {
    if (reply.outcome === "stale" && agree(entry.tail ?? entry.head, reply.data.current)) {
      this.#drop(entry);
      this.on.saved(entry, reply.data.current);
    } else if (reply.outcome === "stale") {
      this.#conflicts.set(idOf(entry), reply);
      this.on.conflict(entry, reply);
    } else if (reply.outcome === "refused") {
      this.#drop(entry);
      this.on.refused(entry, reply);
    } else if (entry.kind === "finish") {
      this.#drop(entry, kept);
      this.on.finished(entry, reply);
    } else {
      this.#acknowledged(entry, label, kept);
    }
  }

  #acknowledged(entry, label, kept) {
    if (entry.tail) {
      entry.head = { ...entry.tail, base: label.revision };
      entry.tail = null;
      this.#keep(entry);
    } else {
      this.#drop(entry, kept);
    }
    this.on.saved(entry, label);
  }

  #failed(together, trouble) {
    this.#trouble = trouble;
    // To the back of the queue: what the server chokes on must not hold up the others.
    for (const entry of together) {
      this.#entries.delete(idOf(entry));
      this.#entries.set(idOf(entry), entry);
    }
    this.on.changed();
    // Time alone won't change that; asking again is the person's choice.
    if (trouble === "ended") return;
    const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), wait * (0.75 + Math.random() / 2));
  }

  #keep(entry) {
    const id = idOf(entry);
    this.#entries.set(id, entry);
    try {
      localStorage.setItem(this.prefix + id, JSON.stringify(entry));
      this.#unkept.delete(id);
    } catch {
      this.#unkept.add(id);
    }
  }

  /** @param {string} [kept] what was stored when it was sent: another tab may have stored something newer since */
  #drop(entry, kept) {
    const id = idOf(entry);
    this.#entries.delete(id);
    this.#unkept.delete(id);
    this.#alone.delete(id);
    try {
      const name = this.prefix + id;
      if (kept === undefined || localStorage.getItem(name) === kept) localStorage.removeItem(name);
    } catch {
      // A browser that refuses access kept nothing either.
    }
  }

  #load() {
    let names;
    try {
      names = Object.keys(localStorage).filter((name) => name.startsWith(this.prefix));
    } catch {
      return;
    }
    const entries = names.map((name) => this.#read(name)).filter((entry) => entry !== null);
    for (const entry of entries.sort((a, b) => a.at - b.at)) this.#entries.set(idOf(entry), entry);
  }

  /** One that can't be read must not keep the others from being sent. @param {string} name @returns {Entry|null} */
  #read(name) {
    const text = localStorage.getItem(name);
    const entry = parsed(text);
    if (entry !== null && this.prefix + idOf(entry) === name) return entry;
    const aside = name.replace(this.prefix, `${ASIDE}${this.userId}.`);
    try {
      localStorage.setItem(aside, text);
      localStorage.removeItem(name);
    } catch {
      // No room for a second copy: it stays where it is, and is told again next time.
    }
    this.broken.push(aside);
    return null;
  }
}
