/** The labelling workspace: holds the task in hand and the next one, and turns what a person does into changes. */

import { createApi } from "./api.js";
import { actionsByKey } from "./actions.js";
import { Finishes } from "./back.js";
import { ActivityClock } from "./clock.js";
import { askReason, askWhichVersion, prepareDialogs, showFeedback, showHelp } from "./dialogs.js";
import { isEnded, showEnded } from "./ended.js";
import * as form from "./form.js";
import { startHeartbeat } from "./heartbeat.js";
import { changedPart, History, saidOf } from "./history.js";
import { bindKeys, switchShortcuts } from "./keys.js";
import { Outbox } from "./outbox.js";
import { bindGuidelines, guidelinesInHand, toggleGuidelines } from "./panel.js";
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
  history = new History();

  constructor(data) {
    this.data = data;
    this.view = data.preferences.view;
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
    this.finishes = new Finishes({
      outbox: this.outbox,
      reopen: this.api.reopen,
      on: {
        shown: (task, finished) => this.onTakenBack(task, finished),
        nothing: () => page.notify(page.say("nothing_back"), { label: page.say("my_work"), act: () => location.assign(data.done_url) }),
        refused: (reply) => page.notify(reply.message || page.say("back_away")),
      },
    });
  }

  start() {
    this.drawView();
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

  /** Something else comes first; what is in hand comes after it, as it is now. */
  setAside() {
    if (!this.task) return;
    this.saveComment();
    this.hold({ ...this.task, labels: [...this.labels.values()].filter((label) => label.revision > 0) });
  }

  /** @param {Task} task */
  show(task) {
    this.task = task;
    this.history.clear();
    this.steps = stepsOf(task);
    this.labels = new Map(task.labels.map((label) => [stepKey(label.unit, label.criterion), label]));
    for (const entry of this.outbox.labelsOf(task.id)) this.remember(entry.unit, entry.criterion, entry.tail ?? entry.head);
    this.at = nextOpen(this.steps, this.labels, -1) ?? 0;
    this.clock.restart(task.active_seconds ?? 0, this.measured());
    page.showStage("task");
    page.drawTask(task, this.steps, this.labels);
    this.drawForm();
    this.texts.showTask(task);
    this.drawStep();
    document.documentElement.dataset.taskId = String(task.id);
    performance.mark("task-shown", { detail: { task: task.id } });
  }

  measured() {
    return new Map([...this.labels].map(([key, label]) => [key, label.active_ms ?? 0]));
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
    if (reply.outcome === "ended") return this.onOutboxChanged();
    if (this.task) return;
    if (reply.outcome === "refused") return showEnded(reply.message);
    page.showStage("away");
    setTimeout(() => this.wake(), ASK_AGAIN_MS);
  }

  /** Anything left undone because the server was away? */
  wake() {
    this.outbox.flush();
    if (!this.task && document.documentElement.dataset.stage === "away" && !this.outbox.finishing.length) void this.fetchWork();
  }

  /** After the work here had ended: perhaps somebody let them in again. */
  askAgain() {
    this.outbox.flush();
    void this.fetchWork();
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
      this.drawState(step);
    }
    this.drawStep();
  }

  async heartbeat(id) {
    const reply = await this.api.heartbeat(id);
    if (reply.outcome === "ended") this.outbox.heard(reply);
    return reply;
  }

  // --- which step ---

  get step() {
    return this.steps[this.at];
  }

  drawStep() {
    this.clock.turnTo(this.step.key);
    page.drawStep(this.task, this.step, this.labels.get(this.step.key));
    if (this.view === "all") form.turnFormTo(this.step);
    this.texts.showStep();
    this.drawProgress();
  }

  /** @param {Step} step */
  drawState(step) {
    page.drawStepState(step, this.labels);
    form.drawFormStep(step, this.labels.get(step.key));
  }

  // --- one question at a time, or all at once ---

  drawView() {
    document.documentElement.dataset.view = this.view;
    byId("view").setAttribute("aria-pressed", String(this.view === "all"));
  }

  drawForm() {
    if (this.view === "all") form.drawForm(this.task, this.steps, this.labels, this.data.keys.cant_tell[0]);
  }

  switchView() {
    this.view = this.view === "all" ? "one" : "all";
    this.drawView();
    void this.api.prefer({ view: this.view });
    if (!this.task) return;
    this.drawForm();
    this.drawStep();
    page.announce(page.say(`view_${this.view}`));
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
    page.announce(`${page.stepTitle(this.step)}: ${page.saidName(this.step.criterion, this.labels.get(this.step.key))}`);
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
    if (this.labels.get(step.key)?.value !== value) this.say(step, { value, cant_tell: "" });
    this.go(nextOpen(this.steps, this.labels, at) ?? at);
  }

  /** Asks for the reason, and goes on as after any other decision. */
  async cantTell() {
    const { task, step, at } = this;
    if (!task || !step.criterion.cant_tell) return;
    this.saveComment();
    const reason = await askReason("cant-tell", this.labels.get(step.key)?.cant_tell);
    if (!reason || this.task !== task) return;
    if (this.labels.get(step.key)?.cant_tell !== reason) this.say(step, { value: null, cant_tell: reason });
    this.go(nextOpen(this.steps, this.labels, at) ?? at);
  }

  clear() {
    if (!this.task || !isDone(this.labels.get(this.step.key))) return;
    this.say(this.step, { value: null, cant_tell: "" });
    this.drawStep();
  }

  /**
   * A change: shown, remembered for undo, and on its way.
   * @param {Step} step @param {Partial<Label>} change @param {boolean} [undoable] false: it is itself an undo or a redo
   */
  say(step, change, undoable = true) {
    const standing = this.labels.get(step.key);
    const before = saidOf(standing);
    const after = { ...before, ...change };
    if (undoable) this.history.add({ key: step.key, before, after });
    this.remember(step.unit, step.criterion.key, after);
    this.drawState(step);
    this.texts.showEvidence();
    this.outbox.putLabel(
      { task: this.task.id, unit: step.unit, criterion: step.criterion.key, title: page.stepTitle(step) },
      { ...after, active_seconds: this.clock.seconds, active_ms: this.clock.spentOn(step.key) },
      standing?.revision ?? 0,
    );
  }

  undo() {
    this.saveComment();
    this.replay("undo", "before");
  }

  redo() {
    this.saveComment();
    this.replay("redo", "after");
  }

  /** @param {"undo"|"redo"} move @param {"before"|"after"} side */
  replay(move, side) {
    if (!this.task) return;
    const deed = this.history[move]((key) => saidOf(this.labels.get(key)));
    if (!deed) return page.hint(page.say(`nothing_to_${move}`));
    const at = this.steps.findIndex((step) => step.key === deed.key);
    const step = this.steps[at];
    this.say(step, deed[side], false);
    this.at = at;
    this.drawStep();
    const part = changedPart(deed);
    const what = ["value", "cant_tell"].includes(part) ? page.saidName(step.criterion, deed[side]) : page.say(`part_${part}`);
    page.hint(page.say(`done_${move}`, { title: page.stepTitle(step), what }));
  }

  /** What was said, with the revision that the server last told. */
  remember(unit, criterion, said) {
    const key = stepKey(unit, criterion);
    this.labels.set(key, { ...this.labels.get(key), unit, criterion, ...saidOf(said), revision: this.labels.get(key)?.revision ?? 0 });
  }

  typed() {
    clearTimeout(this.typing?.timer);
    this.typing = { step: this.step, timer: setTimeout(() => this.saveComment(), COMMENT_PAUSE_MS) };
  }

  /** The task is somebody else's or closed: what is being typed must not land on the next one. */
  stopTyping() {
    clearTimeout(this.typing?.timer);
    this.typing = null;
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
    const reason = await askReason("skip");
    if (reason && this.task?.id === id) this.finish("skip", reason);
  }

  /** Tells the admin that something is wrong with the sample. @param {string} [given] when it is sent again */
  async flag(given) {
    if (!this.task) return;
    const { id } = this.task;
    const reason = given ?? (await askReason("flag"));
    if (reason) await this.sendFlag(id, reason);
  }

  async sendFlag(id, reason) {
    const reply = await this.api.flag(id, reason);
    this.outbox.heard(reply);
    if (reply.outcome === "ok") return page.hint(page.say("flagged"));
    const again = { label: page.say("try_again"), act: () => void this.sendFlag(id, reason) };
    page.notify(page.say("not_flagged", { reason, message: reply.message }), again);
  }

  finish(action, reason) {
    const { id } = this.task;
    this.finishes.add({ task: { ...this.task, labels: [...this.labels.values()] }, action });
    byId("back").hidden = false;
    const counted = action === "submit" ? "done" : "skipped";
    this.progress = { ...this.progress, left: Math.max(0, this.progress.left - 1), [counted]: this.progress[counted] + 1 };
    this.outbox.putFinish({ task: id, action, reason, active_seconds: this.clock.seconds, scope: this.scope });
    this.advance();
    page.announce(page.say(this.task ? "next_task" : "submitted"));
  }

  /** @param {Task} task @param {import("./back.js").Finished} finished */
  onTakenBack(task, { action }) {
    const counted = action === "submit" ? "done" : "skipped";
    this.progress = { ...this.progress, left: this.progress.left + 1, [counted]: Math.max(0, this.progress[counted] - 1) };
    this.setAside();
    this.show(task);
    this.at = 0;
    this.drawStep();
    byId("back").hidden = !this.finishes.any;
    page.hint(page.say("taken_back"));
  }

  /** Others have it now: says what was chosen, so that nothing is lost silently. */
  onLost(id, message) {
    if (this.task?.id !== id) return;
    this.stopTyping();
    const chosen = this.steps.filter((step) => isDone(this.labels.get(step.key)));
    const listed = chosen.map((step) => `${page.stepTitle(step)}: ${page.saidName(step.criterion, this.labels.get(step.key))}`);
    page.notify(`${message} ${listed.length ? page.say("had_chosen", { list: listed.join("; ") }) : ""}`);
    this.held = null;
    this.advance();
  }

  // --- what the server said ---

  onOutboxChanged() {
    const { state, finishing } = this.outbox;
    page.drawSaveState(state);
    if (state === "ended") return showEnded(this.outbox.ended);
    if (isEnded()) page.showStage(this.task ? "task" : "loading");
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
    this.drawState(step);
    if (step === this.step && !newer && !this.typing) page.drawChoice(label ?? undefined);
    this.texts.showEvidence();
    this.drawProgress();
  }

  onFinished(entry, reply) {
    this.finishes.answered(entry.task);
    this.showFeedback(entry.task, reply.data.feedback);
    const ours = entry.scope === this.scope;
    this.take(ours ? reply.data.next : null);
    // Nothing (new) came with the reply: this batch may be through, but another one may wait.
    if (ours && !(this.task && this.held)) void this.fetchWork();
  }

  /** Known answers come with the reply to a submission, where the batch shows them. */
  showFeedback(id, feedback) {
    const task = this.finishes.taskOf(id);
    if (!feedback.length || !task) return;
    const steps = new Map(stepsOf(task).map((step) => [step.key, step]));
    const rows = feedback.flatMap(({ unit, criterion, yours, answer, reason }) => {
      const step = steps.get(stepKey(unit, criterion));
      const name = (value) => page.valueName(step.criterion, value);
      return step ? [{ title: page.stepTitle(step), yours: name(yours), answer: name(answer), reason, same: yours === answer }] : [];
    });
    void showFeedback(rows);
  }

  onRefused(entry, reply) {
    if (entry.kind === "finish") {
      this.finishes.forget(entry.task);
      const again = { label: page.say("open_again"), act: () => void this.reopen(entry.task) };
      page.notify(page.say("not_finished", { message: reply.message }), reply.code === "incomplete" ? again : undefined);
      if (!this.task) void this.fetchWork();
      return;
    }
    page.notify(page.say("refused", { title: entry.title, message: reply.message }));
    if (entry.task !== this.task?.id) return;
    if (reply.code === "task_released") {
      this.onLost(entry.task, reply.message);
    } else if (GONE.has(reply.status)) {
      this.stopTyping();
      this.held = null;
      this.advance();
    } else {
      void this.refresh(entry.task);
    }
  }

  async reopen(id) {
    const reply = await this.api.task(id);
    if (reply.outcome !== "ok") return page.notify(reply.message || page.say("waiting"));
    this.setAside();
    this.show(reply.data.task);
  }

  async settleConflict() {
    const waiting = this.outbox.conflict;
    if (!waiting) return;
    const [entry, reply] = waiting;
    const task = entry.task === this.task?.id ? this.task : (await this.api.task(entry.task)).data?.task;
    const criterion = task?.criteria.find((one) => one.key === entry.criterion) ?? { options: [] };
    const shown = (said) => ({ value: page.saidName(criterion, said), comment: said?.comment ?? "", evidence: said?.evidence ?? [] });
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

/** What scrolls the contexts: their column, or on smaller windows the texts as a whole. */
const scrollable = (column) => (getComputedStyle(column).overflowY === "auto" ? column : column.parentElement);

/** @param {Workspace} workspace */
function bind(workspace) {
  const options = byId("options");
  const all = () => workspace.view === "all";
  const optionOf = (key) => (all() ? form.formOption(workspace.step, key) : options.querySelector(`[data-key="${CSS.escape(key)}"]`));
  const pick = (button) => workspace.choose(JSON.parse(button.dataset.value));
  const next = () => workspace.goUnit(1);
  const previous = () => workspace.goUnit(-1);
  const comment = () => byId("comment").focus();
  const scroll = (direction) => {
    const area = guidelinesInHand() ?? scrollable(byId("contexts-column"));
    area.scrollBy(0, direction * 0.8 * area.clientHeight);
  };

  const texts = workspace.texts.actions;

  const typeNumber = (key) => {
    const field = (all() && form.formNumber(workspace.step)) || byId("number");
    field.value = key;
    field.focus();
  };
  const acts = {
    next_unit: next, previous_unit: previous,
    next_step: () => workspace.goStep(1), previous_step: () => workspace.goStep(-1),
    cant_tell: () => void workspace.cantTell(), clear: () => workspace.clear(), comment,
    undo: () => workspace.undo(), redo: () => workspace.redo(),
    help_text: () => workspace.task && page.toggleHelp(workspace.step.criterion), guidelines: toggleGuidelines,
    view: () => workspace.switchView(), skip: () => void workspace.skip(), flag: () => void workspace.flag(),
    back: () => void workspace.finishes.takeBack(), keys: showHelp,
    page_down: () => scroll(1), page_up: () => scroll(-1),
    evidence: texts.evidence, search: texts.search, markers: texts.markers,
    submit: () => workspace.texts.selected.attach() || workspace.submit(),
  };
  const byKey = Object.entries(actionsByKey(workspace.data.keys));

  bindKeys({
    option: (key) => {
      if (!workspace.task) return undefined;
      if (!workspace.step.criterion.options.length && /\d/.test(key)) return () => typeNumber(key);
      const button = optionOf(key);
      return button ? () => pick(button) : undefined;
    },
    actions: Object.fromEntries(byKey.map(([key, action]) => [key, acts[action]])),
    asleep: isEnded,
  });
  bindGuidelines();
  form.bindForm({
    go: (key) => {
      const at = workspace.steps.findIndex((step) => step.key === key);
      if (at >= 0 && at !== workspace.at) workspace.go(at);
    },
    choose: (value) => workspace.choose(value),
    cantTell: () => void workspace.cantTell(),
  });
  startHeartbeat({
    task: () => workspace.task,
    active: () => workspace.clock.active,
    send: (id) => workspace.heartbeat(id),
    lost: (id, message) => workspace.onLost(id, message),
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
    flag: () => workspace.flag(), back: acts.back, "back-done": acts.back, "cant-tell": acts.cant_tell, view: acts.view,
    undo: acts.undo, redo: acts.redo, "help-text": acts.help_text, help: showHelp, resolve: () => workspace.settleConflict(), "try-again": () => workspace.wake(), "ended-again": () => workspace.askAgain() };
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
const workspace = new Workspace(data);
prepareDialogs({
  shortcuts: (on) => {
    switchShortcuts(on);
    void workspace.api.prefer({ single_keys: on }).then((reply) => reply.outcome !== "ok" && page.notify(page.say("not_kept")));
  },
});
bind(workspace);
workspace.start();
