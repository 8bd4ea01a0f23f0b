/** What is done to the claims of one sample. Every change is saved at once, one after the other. */

import { announce } from "../base/announce.js";
import { byId, say, setText } from "../base/dom.js";
import { createRequest } from "../base/request.js";
import { toUtf16 } from "../base/spans.js";
import { freePassage, passageMode, splitMode, textMode } from "./claims-modes.js";
import * as view from "./claims-view.js";
import { inHandAfter, replay } from "./claims-words.js";

const RETRY_MS = 3_000;

export class Editor {
  /** The claim in hand, by index. @type {number|null} */ current = null;
  /** @type {import("./claims-modes.js").Mode|null} */ mode = null;
  /** What a pointer selected in the answer, UTF-16. @type {{start: number, end: number}|null} */ selected = null;
  /** Changes wait here for those before them. */ line = Promise.resolve();
  sending = false;

  constructor(data) {
    this.data = data;
    this.answer = data.answer;
    this.request = createRequest(data);
    this.take(data.state);
    this.current = this.claims[0]?.index ?? null;
    this.draw();
  }

  // --- what there is ---

  take(state) {
    this.state = state;
    this.claims = view.inOrder(state.claims);
  }

  get fixed() {
    return this.state.fixed !== "";
  }

  get claim() {
    return this.claims.find((claim) => claim.index === this.current) ?? null;
  }

  /** The claim's passage in UTF-16, or null. */
  passageOf(claim) {
    if (claim?.start == null) return null;
    const [start, end] = toUtf16(this.answer, [claim.start, claim.end]);
    return { start, end };
  }

  draw() {
    this.mode?.read?.();
    const inRow = Boolean(this.mode?.draw) && this.mode.claim !== undefined;
    view.drawAnswer(this.answer, this.claims, this.current, this.mode?.picked ?? null);
    view.drawClaims(this.claims, this.current, this.fixed || Boolean(this.mode), inRow ? this.mode.draw() : null);
    view.drawDropped(this.state.claims, this.fixed);
    view.drawHistory(this.state.history);
    this.drawTools(inRow);
  }

  drawTools(inRow) {
    const picking = Boolean(this.mode?.picked);
    const { past, future } = replay(this.state.history);
    byId("fixed").hidden = !this.fixed;
    setText("fixed-text", this.state.fixed);
    byId("tools").hidden = this.fixed || this.mode !== null;
    byId("undo").disabled = !past.length;
    byId("redo").disabled = !future.length;
    byId("passage-tools").hidden = !picking;
    byId("write-instead").hidden = this.mode?.kind !== "add";
    byId("adding").replaceChildren(...(this.mode?.kind === "text" && !inRow ? [this.mode.draw()] : []));
    byId("add-selected").hidden = this.fixed || picking || !this.selected;
    byId("checked").hidden = !this.state.checked;
    byId("finish").hidden = this.fixed && !this.data.next_url;
  }

  /** Where the keyboard is: in the field that was opened, at the passage, or on the claim in hand. */
  focus() {
    const target = this.mode?.picked ? byId("passage-tools") : byId("claim-text") ?? byId("claims").querySelector("[aria-current]");
    (target ?? byId("claims-column")).focus();
    (target?.closest(".ce-mode, .ce-claim") ?? target)?.scrollIntoView({ block: "nearest" });
  }

  // --- moving ---

  go(index) {
    if (index === undefined || index === null) return;
    this.current = index;
    this.mode = null;
    this.draw();
    this.focus();
  }

  step(by) {
    const at = this.claims.findIndex((claim) => claim.index === this.current);
    this.go(this.claims[Math.min(this.claims.length - 1, Math.max(0, at + by))]?.index);
  }

  /** @param {import("./claims-modes.js").Mode|null} mode */
  enter(mode) {
    this.mode = mode;
    this.draw();
    this.focus();
    if (mode?.hint) announce(mode.hint);
  }

  leave() {
    if (!this.mode?.isSaving) this.enter(null);
  }

  pressed(key) {
    this.mode.keys[key]();
    this.draw();
    this.focus();
    announce(this.mode.hint);
  }

  confirm() {
    const { mode } = this;
    if (mode.isSaving) return;
    if (this.fixed) return this.complain(mode, this.state.fixed);
    const change = mode.value();
    if (!change) return this.complain(mode, say("empty"));
    if (mode.kind === "text") this.keepUntilSaved(mode);
    else this.mode = null;
    this.act(() => change, { from: mode });
  }

  /** @param {import("./claims-modes.js").Mode} mode */
  keepUntilSaved(mode) {
    Object.assign(mode, { isSaving: true, problem: "" });
    this.draw();
    this.focus();
  }

  /** The reason stands where the words are. @param {import("./claims-modes.js").Mode} mode @param {string} problem */
  complain(mode, problem) {
    const { claim } = mode;
    const now = this.claims.find(({ index }) => index === claim);
    // Its claim is gone: the words are kept, as a claim of their own.
    if (claim !== undefined && !now) mode = textMode(mode.words, (text) => ({ op: "add", text }));
    const says = now && now.text !== mode.began ? say("says_now", { text: now.text }) : "";
    Object.assign(mode, { isSaving: false, problem: [problem, says].filter(Boolean).join(" ") });
    if (now) mode.began = now.text;
    if (!this.claim) this.current = this.claims[0]?.index ?? null;
    this.mode = mode;
    this.draw();
    this.focus();
  }

  // --- changing ---

  /** Whether the claim in hand may be changed; says why not. */
  mayChange() {
    if (this.fixed || !this.claim) return false;
    if (this.claim.carries) view.notify(say("carried", { what: this.claim.carries }));
    return !this.claim.carries;
  }

  split() {
    if (!this.mayChange()) return;
    const mode = splitMode(this.claim);
    if (mode) this.enter(mode);
    else view.notify(say("one_word"));
  }

  edit() {
    if (!this.mayChange()) return;
    const { index, text } = this.claim;
    this.enter(Object.assign(textMode(text, (written) => ({ op: "edit", claim: index, text: written })), { claim: index }));
  }

  move() {
    if (!this.mayChange()) return;
    const { index } = this.claim;
    const picked = this.passageOf(this.claim) ?? freePassage(this.answer, []);
    if (!picked) return;
    const mode = passageMode("move", this.answer, picked, (start, end) => ({ op: "move", claim: index, start, end }));
    this.enter(Object.assign(mode, { claim: index }));
  }

  /** From what is selected in the answer; else asks which passage it is. */
  add() {
    if (this.fixed) return;
    const made = (start, end) => ({ op: "add", start, end });
    // Now: the browser tells of a selection a moment after it was made.
    this.selected = view.selectedInAnswer() ?? this.selected;
    const picked = this.selected ?? freePassage(this.answer, this.claims.map((claim) => this.passageOf(claim)).filter(Boolean));
    if (!picked) return this.write();
    const mode = passageMode("add", this.answer, picked, made);
    if (!this.selected) return this.enter(mode);
    this.selected = null;
    getSelection().removeAllRanges();
    this.act(() => mode.value());
  }

  write() {
    if (this.fixed) return;
    this.enter(textMode("", (text) => ({ op: "add", text })));
  }

  merge() {
    this.act(() => {
      const at = this.claims.findIndex((claim) => claim.index === this.current);
      const next = this.claims[at + 1];
      if (!next) view.notify(say("no_next"));
      return next ? { op: "merge", claims: [this.current, next.index] } : null;
    });
  }

  drop() {
    this.act(() => (this.claim ? { op: "drop", claim: this.current } : null));
  }

  toDropped() {
    byId("dropped-box").open = true;
    byId("dropped").querySelector("button")?.focus();
  }

  back(which) {
    this.act(() => {
      const revision = replay(this.state.history)[which].at(-1);
      if (!revision) view.notify(say(which === "past" ? "no_undo" : "no_redo"));
      return revision ? { op: "restore_revision", revision } : null;
    });
  }

  done() {
    const onwards = () => {
      if (this.data.next_url) location.assign(this.data.next_url);
      else announce(say("checked"));
    };
    if (this.fixed || this.state.checked) return onwards();
    this.act(() => ({ op: "checked" }), { then: onwards });
  }

  /**
   * @param {() => object|null} make  asked when the changes before it are saved, so that it fits what there is then
   * @param {{then?: () => void, from?: import("./claims-modes.js").Mode}} [more]  `from`: where it was chosen or written
   */
  act(make, { then = () => {}, from } = {}) {
    if (this.fixed) return;
    this.line = this.line.then(async () => {
      view.notify("");
      const change = make();
      if (!change) return;
      const before = this.claims;
      const problem = await this.send(change);
      const made = !problem;
      if (from?.isSaving && !made) return this.complain(from, problem);
      if (this.mode === from) this.mode = null;
      if (problem) view.notify(problem);
      const isOrphan = this.mode?.claim !== undefined && !this.claim;
      if (isOrphan && this.mode.kind === "text") return this.complain(this.mode, problem || say("claim_gone"));
      // A reviewer who has begun with another claim meanwhile goes on with it, if it is still there.
      if (!this.mode || isOrphan) {
        this.mode = null;
        this.current = made ? inHandAfter(change, before, this.claims, this.current) : (this.claim ?? this.claims[0])?.index ?? null;
      }
      if (made) then();
      this.draw();
      this.focus();
    });
  }

  /** @returns {Promise<string>} "" when it was made, else why not */
  async send(change) {
    this.sending = true;
    const reply = await untilAnswered(() => this.request("PATCH", this.data.api, change, { "If-Match": `"${this.state.revision}"` }));
    this.sending = false;
    if (reply.outcome !== "ok") return this.refused(reply);
    this.take(reply.data);
    announce(say(`did_${change.op}`));
    return "";
  }

  /** Takes over what there is now. @returns {Promise<string>} why it was refused */
  async refused(reply) {
    if (reply.outcome === "stale") {
      this.take(reply.data.current);
      const who = this.state.history[0]?.who;
      return who ? say("conflict", { who }) : reply.message;
    }
    if (reply.status === 409) {
      const now = await this.request("GET", this.data.api);
      if (now.outcome === "ok") this.take(now.data);
    }
    return reply.message;
  }
}

/**
 * Sends a change until the server has answered, and shows how it stands meanwhile; what is made twice at one revision is made once.
 * @param {() => Promise<import("../base/request.js").Reply>} ask @returns {Promise<import("../base/request.js").Reply>}
 */
async function untilAnswered(ask) {
  for (;;) {
    view.drawSaveState("saving");
    const reply = await ask();
    if (reply.outcome !== "away" && reply.outcome !== "logged-out") {
      // What was refused is not saved, and the notice says so.
      view.drawSaveState(reply.outcome === "ok" ? "saved" : "");
      return reply;
    }
    view.drawSaveState(reply.outcome === "away" ? "waiting" : "logged_out");
    await later();
  }
}

/** A moment later, or as soon as the browser is online or in front again. */
function later() {
  return new Promise((resolve) => {
    setTimeout(resolve, RETRY_MS);
    window.addEventListener("online", resolve, { once: true });
    window.addEventListener("focus", resolve, { once: true });
  });
}
