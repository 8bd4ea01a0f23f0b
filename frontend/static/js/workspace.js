/** The labelling workspace: holds the task in hand and the next one, and turns what a person does into changes. */

import { createApi } from "./api.js";
import { askSkipReason, askWhichVersion, prepareDialogs, showGuidelines, showHelp } from "./dialogs.js";
import { ActivityClock, bindKeys } from "./keys.js";
import { Outbox } from "./outbox.js";
import * as page from "./render.js";
import { firstMissing, isDone, neighbourUnit, nextOpen, stepKey, stepOfUnit, stepsOf } from "./steps.js";
import { Texts } from "./texts.js";

/** @typedef {import("./steps.js").Task} Task @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label */

// A task fetched longer ago than this may have been worked on elsewhere since.
const FRESH_MS = 120_000;
const COMMENT_PAUSE_MS = 700;
const ASK_AGAIN_MS = 5_000;
// Refusals that concern the whole task: not a member any more, not one's own, no longer open.
const GONE = new Set([403, 404, 409]);

const byId = (id) => document.getElementById(id);

class Workspace {
  /** @type {Task|null} */ task = null;
  /** @type {Step[]} */ steps = [];
  /** @type {Map<string, Label>} */ labels = new Map();
  at = 0;
  /** @type {{task: Task, since: number}|null} the next task, fetched ahead */ held = null;
  /** The comment being typed. @type {{step: Step, timer: number}|null} */ typing = null;
  asking = false;

  constructor(data) {
    this.data = data;
    this.scope = `${data.project.slug}/${data.batch ?? ""}`;
    this.progress = data.progress;
    this.api = createApi(data);
    this.clock = new ActivityClock();
    this.texts = new Texts(this);
    this.outbox = new Outbox({
      userId: data.user_id,
      api: this.api,
      exclude: (entry) => this.heldIds().filter((id) => id !== entry.task),
      on: {
        changed: () => this.onOutboxChanged(),
        saved: (entry, label) => this.onSaved(entry, label),
        conflict: () => void this.settleConflict(),
        finished: (entry, reply) => this.onFinished(entry, reply),
        refused: (entry, reply) => this.onRefused(entry, reply),
      },
    });
  }

  start() {
    const unfinished = [this.data.task, this.data.next].filter((task) => task && !this.isFinishing(task.id));
    const left = this.outbox.finishing.filter((entry) => entry.scope === this.scope).length;
    this.progress = { ...this.progress, left: Math.max(0, this.progress.left - left) };
    if (unfinished[1]) this.hold(unfinished[1]);
    if (unfinished[0]) this.show(unfinished[0]);
    else void this.fetchWork();
    this.outbox.flush();
  }

  // --- which task ---

  heldIds() {
    const ids = this.outbox.finishing.map((entry) => entry.task);
    if (this.task) ids.push(this.task.id);
    if (this.held) ids.push(this.held.task.id);
    return ids;
  }

  isFinishing(id) {
    return this.outbox.finishing.some((entry) => entry.task === id);
  }

  hold(task) {
    this.held = { task, since: performance.now() };
  }

  /** @param {Task} task */
  show(task) {
    this.task = task;
    this.steps = stepsOf(task);
    this.labels = new Map(task.labels.map((label) => [stepKey(label.unit, label.criterion), label]));
    for (const entry of this.outbox.labelsOf(task.id)) this.remember(entry.unit, entry.criterion, entry.tail ?? entry.head);
    this.at = nextOpen(this.steps, this.labels, -1) ?? 0;
    this.clock.restart(task.active_seconds ?? 0);
    page.showStage("task");
    page.drawTask(task, this.steps, this.labels);
    this.texts.showTask(task);
    this.drawStep();
    document.documentElement.dataset.taskId = String(task.id);
    performance.mark("task-shown", { detail: { task: task.id } });
  }

  /** To the task that is already here; only when there is none, ask and wait. */
  advance() {
    const held = this.held;
    this.task = this.held = null;
    if (!held) {
      delete document.documentElement.dataset.taskId;
      page.showStage("loading");
      // The reply to what is on its way brings the next task; no need to ask for it as well.
      if (this.outbox.finishing.length) this.onOutboxChanged();
      else void this.fetchWork();
      return;
    }
    this.show(held.task);
    if (performance.now() - held.since > FRESH_MS) void this.refresh(held.task.id);
  }

  /** A task arrived (or the news that there is none). @param {Task|null} task */
  take(task) {
    if (!task || this.heldIds().includes(task.id)) return;
    if (!this.task) this.show(task);
    else if (!this.held) this.hold(task);
  }

  /** Asks for a task to show, or to hold when one is shown. */
  async fetchWork() {
    if (this.asking) return;
    this.asking = true;
    if (!this.task) page.showStage("loading");
    const reply = await this.api.work(this.heldIds());
    this.asking = false;
    this.outbox.heard(reply);
    if (reply.outcome !== "ok") return this.workIsAway(reply);
    if (!this.outbox.finishing.length) this.progress = reply.data.progress;
    this.take(reply.data.task);
    if (this.task) return this.drawProgress();
    if (this.outbox.finishing.length) this.onOutboxChanged();
    else page.showStage("done");
  }

  workIsAway(reply) {
    if (this.task) return;
    page.showStage("away");
    if (reply.outcome === "refused") page.notify(reply.message);
    else setTimeout(() => this.wake(), ASK_AGAIN_MS);
  }

  /** Anything left undone because the server was away? */
  wake() {
    this.outbox.flush();
    if (!this.task && document.documentElement.dataset.stage === "away" && !this.outbox.finishing.length) void this.fetchWork();
  }

  /** Takes over what was saved elsewhere, except where a choice made here is still on its way. */
  async refresh(id) {
    const reply = await this.api.task(id);
    if (this.task?.id !== id || reply.outcome !== "ok") return;
    const pending = new Set(this.outbox.labelsOf(id).map((entry) => stepKey(entry.unit, entry.criterion)));
    const theirs = new Map(reply.data.task.labels.map((label) => [stepKey(label.unit, label.criterion), label]));
    for (const step of this.steps) {
      if (pending.has(step.key)) continue;
      if (theirs.has(step.key)) this.labels.set(step.key, theirs.get(step.key));
      else this.labels.delete(step.key);
      page.drawStepState(step, this.labels);
    }
    this.drawStep();
  }

  // --- which step ---

  get step() {
    return this.steps[this.at];
  }

  drawStep() {
    page.drawStep(this.task, this.step, this.labels.get(this.step.key));
    this.texts.showStep();
    this.drawProgress();
  }

  drawProgress() {
    page.drawProgress(this.steps, this.labels, this.progress);
  }

  /** @param {number|null} index */
  go(index) {
    if (index === null || !this.task) return;
    this.saveComment();
    this.at = index;
    this.drawStep();
    page.announce(`${page.stepTitle(this.step)}: ${page.valueName(this.step.criterion, this.labels.get(this.step.key)?.value)}`);
  }

  goUnit(direction) {
    if (this.task) this.go(neighbourUnit(this.steps, this.labels, this.at, direction));
  }

  goStep(direction) {
    if (this.steps[this.at + direction]) this.go(this.at + direction);
  }

  // --- deciding ---

  choose(value) {
    const { step, at } = this;
    if (!this.task) return;
    this.saveComment();
    if (this.labels.get(step.key)?.value !== value) this.say(step, { value });
    this.go(nextOpen(this.steps, this.labels, at) ?? at);
  }

  clear() {
    if (!this.task || !isDone(this.labels.get(this.step.key))) return;
    this.say(this.step, { value: null });
    this.drawStep();
  }

  /** @param {Step} step @param {Partial<Label>} change */
  say(step, change) {
    const before = this.labels.get(step.key) ?? { value: null, comment: "", evidence: [], revision: 0 };
    const { value, comment, evidence } = { ...before, ...change };
    this.remember(step.unit, step.criterion.key, { value, comment, evidence });
    page.drawStepState(step, this.labels);
    this.texts.showEvidence();
    this.outbox.putLabel(
      { task: this.task.id, unit: step.unit, criterion: step.criterion.key, title: page.stepTitle(step) },
      { value, comment, evidence, active_seconds: this.clock.seconds },
      before.revision,
    );
  }

  /** What was said, with the revision that the server last told. */
  remember(unit, criterion, { value, comment, evidence }) {
    const key = stepKey(unit, criterion);
    this.labels.set(key, { unit, criterion, value, comment, evidence, revision: this.labels.get(key)?.revision ?? 0 });
  }

  typed() {
    clearTimeout(this.typing?.timer);
    this.typing = { step: this.step, timer: setTimeout(() => this.saveComment(), COMMENT_PAUSE_MS) };
  }

  saveComment() {
    if (!this.typing) return;
    const { step, timer } = this.typing;
    clearTimeout(timer);
    this.typing = null;
    const comment = byId("comment").value;
    if (comment !== (this.labels.get(step.key)?.comment ?? "")) this.say(step, { comment });
  }

  submit() {
    if (!this.task) return;
    this.saveComment();
    const missing = firstMissing(this.steps, this.labels);
    if (missing === null) return this.finish("submit", "");
    this.go(missing);
    page.explain(page.say("still_open"), page.stepTitle(this.step));
  }

  async skip() {
    if (!this.task) return;
    const { id } = this.task;
    const reason = await askSkipReason();
    if (reason && this.task?.id === id) this.finish("skip", reason);
  }

  finish(action, reason) {
    const { id } = this.task;
    const counted = action === "submit" ? "done" : "skipped";
    this.progress = { ...this.progress, left: Math.max(0, this.progress.left - 1), [counted]: this.progress[counted] + 1 };
    this.outbox.putFinish({ task: id, action, reason, active_seconds: this.clock.seconds, scope: this.scope });
    this.advance();
    page.announce(page.say(this.task ? "next_task" : "submitted"));
  }

  // --- what the server said ---

  onOutboxChanged() {
    const { state, finishing } = this.outbox;
    page.drawSaveState(state);
    if (!this.task && finishing.length) page.showStage(state === "saving" ? "loading" : "away");
  }

  onSaved(entry, label) {
    if (entry.task !== this.task?.id) return;
    const key = stepKey(entry.unit, entry.criterion);
    const step = this.steps.find((one) => one.key === key);
    if (!step) return;
    const newer = this.outbox.labelsOf(entry.task).some((other) => stepKey(other.unit, other.criterion) === key);
    if (newer) this.labels.get(key).revision = label.revision;
    else if (label) this.labels.set(key, label);
    else this.labels.delete(key);
    page.drawStepState(step, this.labels);
    if (step === this.step && !newer && !this.typing) page.drawChoice(label?.value ?? null);
    this.texts.showEvidence();
    this.drawProgress();
  }

  onFinished(entry, reply) {
    const ours = entry.scope === this.scope;
    this.take(ours ? reply.data.next : null);
    // Nothing (new) came with the reply: this batch may be through, but another one may wait.
    if (ours && !(this.task && this.held)) void this.fetchWork();
  }

  onRefused(entry, reply) {
    if (entry.kind === "finish") {
      const again = { label: page.say("open_again"), act: () => void this.reopen(entry.task) };
      page.notify(page.say("not_finished", { message: reply.message }), reply.code === "incomplete" ? again : undefined);
      if (!this.task) void this.fetchWork();
      return;
    }
    page.notify(page.say("refused", { title: entry.title, message: reply.message }));
    if (entry.task !== this.task?.id) return;
    if (GONE.has(reply.status)) {
      this.held = null;
      this.advance();
    } else {
      void this.refresh(entry.task);
    }
  }

  async reopen(id) {
    const reply = await this.api.task(id);
    if (reply.outcome !== "ok") return page.notify(reply.message || page.say("waiting"));
    if (this.task) this.hold(this.task);
    this.show(reply.data.task);
  }

  async settleConflict() {
    const waiting = this.outbox.conflict;
    if (!waiting) return;
    const [entry, reply] = waiting;
    const task = entry.task === this.task?.id ? this.task : (await this.api.task(entry.task)).data?.task;
    const criterion = task?.criteria.find((one) => one.key === entry.criterion) ?? { options: [] };
    const shown = (said) => ({ value: page.valueName(criterion, said?.value), comment: said?.comment ?? "", evidence: said?.evidence ?? [] });
    const choice = await askWhichVersion({ title: entry.title, mine: shown(entry.tail ?? entry.head), theirs: shown(reply.data.current) });
    if (choice !== "mine" && choice !== "theirs") return;
    if (this.task?.id === entry.task && reply.data.current) {
      this.labels.set(stepKey(entry.unit, entry.criterion), { ...reply.data.current });
      if (choice === "mine") this.remember(entry.unit, entry.criterion, entry.tail ?? entry.head);
    }
    this.outbox.resolve(entry, choice);
    if (this.task?.id === entry.task) this.drawStep();
    void this.settleConflict();
  }
}

/** @param {Workspace} workspace */
function bind(workspace) {
  const options = byId("options");
  const optionOf = (key) => options.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const pick = (button) => workspace.choose(JSON.parse(button.dataset.value));
  const next = () => workspace.goUnit(1);
  const previous = () => workspace.goUnit(-1);
  const comment = () => byId("comment").focus();
  const scroll = (direction) => byId("contexts-column").scrollBy(0, direction * 0.8 * byId("contexts-column").clientHeight);

  const texts = workspace.texts.actions;

  const typeNumber = (key) => {
    byId("number").value = key;
    byId("number").focus();
  };

  bindKeys({
    option: (key) => {
      if (!workspace.task) return undefined;
      if (!workspace.step.criterion.options.length && /\d/.test(key)) return () => typeNumber(key);
      const button = optionOf(key);
      return button ? () => pick(button) : undefined;
    },
    actions: {
      n: next, j: next, ArrowRight: next,
      p: previous, k: previous, ArrowLeft: previous,
      ".": () => workspace.goStep(1), ",": () => workspace.goStep(-1),
      u: () => workspace.clear(), c: comment, s: () => void workspace.skip(), g: showGuidelines, "?": showHelp,
      PageDown: () => scroll(1), PageUp: () => scroll(-1),
      e: texts.evidence, "/": texts.search, v: texts.markers,
      Enter: () => workspace.texts.selected.attach() || workspace.submit(),
    },
  });

  options.addEventListener("click", (event) => {
    const button = event.target.closest("[data-value]");
    if (button) pick(button);
  });
  options.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...options.children];
    buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length).focus();
  });
  byId("steps").addEventListener("click", (event) => {
    const button = event.target.closest("[data-unit]");
    if (button) workspace.go(workspace.steps.findIndex((step) => step.key === stepKey(button.dataset.unit, button.dataset.criterion)));
  });
  byId("work").addEventListener("click", (event) => {
    const marked = event.target.closest("[data-units]");
    // Somebody who selects text doesn't want to go anywhere.
    if (marked && getSelection().isCollapsed) workspace.go(stepOfUnit(workspace.steps, workspace.labels, marked.dataset.units.split(" ")[0]));
  });
  byId("comment").addEventListener("input", () => workspace.typed());
  byId("comment").addEventListener("blur", () => workspace.saveComment());
  for (const field of [byId("comment"), byId("number")]) {
    field.addEventListener("keydown", (event) => event.key === "Escape" && field.blur());
  }
  byId("number-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("number").value !== "") workspace.choose(byId("number").valueAsNumber);
  });
  const clicks = { next, previous, clear: () => workspace.clear(), submit: () => workspace.submit(), skip: () => workspace.skip(),
    help: showHelp, guidelines: showGuidelines, resolve: () => workspace.settleConflict(), "try-again": () => workspace.wake() };
  for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", () => void act());

  const wake = () => document.visibilityState === "visible" && workspace.wake();
  window.addEventListener("online", wake);
  window.addEventListener("focus", wake);
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("pagehide", () => workspace.saveComment());
  window.addEventListener("beforeunload", (event) => {
    if (workspace.outbox.storageFailed && workspace.outbox.size) event.preventDefault();
  });
}

const data = JSON.parse(byId("workspace-data").textContent);
byId("log-in").href = `${data.login_url}?next=${encodeURIComponent(location.pathname + location.search)}`;
prepareDialogs();
const workspace = new Workspace(data);
bind(workspace);
workspace.start();
