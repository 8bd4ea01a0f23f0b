/** The labelling workspace: holds the task in hand and the next one, and turns what a person does into changes. */

import { announce } from "../base/announce.js";
import { byId, say, setText } from "../base/dom.js";
import { createApi } from "./api.js";
import { askReason, askWhichVersion, showFeedback } from "./dialogs.js";
import { focusChoice, followFocus } from "./focus.js";
import * as form from "./form.js";
import { noteGuidelines } from "./guideline-news.js";
import { changedPart, History, saidOf } from "./history.js";
import { Outbox } from "./outbox.js";
import { ActivityClock } from "./presence.js";
import * as page from "./render.js";
import { Proposed } from "./proposed.js";
import { Questions } from "./questions.js";
import { choiceAloud, stepAloud, taskAloud } from "./spoken.js";
import { firstMissing, isDone, isMulti, isText, neighbourUnit, nextOpen, stepKey, stepsOf, toggled } from "./steps.js";
import { Finishes } from "./take-back.js";
import { Texts } from "./texts.js";
import { TooLong } from "./too-long.js";
import { TypedField } from "./typed-field.js";
import { showUnasked } from "./unasked.js";
import { Written } from "./written.js";

/** @typedef {import("./steps.js").Task} Task @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label */

// A task fetched longer ago than this may have been worked on elsewhere since.
const FRESH_MS = 120_000;
const ASK_AGAIN_MS = 5_000;
// Refusals that concern the whole task: not a member any more, not one's own, no longer open.
const GONE = new Set([403, 404, 409]);
const OPEN = new Set(["pending", "in_progress", "returned"]);

export class Workspace {
  /** @type {Task|null} */ task = null;
  /** @type {Step[]} */ steps = [];
  /** @type {Map<string, Label>} */ labels = new Map();
  at = 0;
  /** The key of the step on the screen. */ drawn = "";
  /** @type {{task: Task, since: number}|null} the next task, fetched ahead */ held = null;
  asking = false;
  /** Tasks finished here since the server was asked for one. @type {Set<number>} */ finishedMeanwhile = new Set();
  /** A person is being asked which version counts. */ settling = false;
  history = new History();
  tooLong = new TooLong();
  /** While the introduction runs: takes what would be stored. @type {import("./introduction.js").Practice|null} */ practice = null;

  constructor(data) {
    this.data = data;
    this.view = data.preferences.view;
    this.scope = `${data.project.slug}/${data.batch ?? ""}`;
    this.progress = data.progress;
    this.api = createApi(data);
    this.clock = new ActivityClock();
    this.texts = new Texts(this);
    this.comment = new TypedField(byId("comment"), {
      part: "comment",
      tooLong: this.tooLong,
      inHand: () => this.task && { task: this.task.id, step: this.step },
      save: (step, comment) => comment !== (this.labels.get(step.key)?.comment ?? "") && this.say(step, { comment }),
    });
    this.written = new Written({
      tooLong: this.tooLong,
      task: () => this.task,
      step: () => this.step,
      label: (step) => this.labels.get(step.key),
      say: (step, value) => this.write(step, value),
    });
    this.proposed = new Proposed({
      task: () => this.task,
      step: () => this.step,
      label: (step) => this.labels.get(step.key),
      accept: (value) => this.choose(value),
    });
    this.questions = new Questions({ api: this.api, task: () => this.task, steps: () => this.steps, step: () => this.step });
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
        nothing: () => page.notify(say("nothing_back"), { label: say("my_work"), act: () => location.assign(data.done_url) }),
        refused: (reply) => page.notify(reply.message || say("back_away")),
      },
    });
  }

  /** A practice sample before all others. @param {Task} task @param {import("./introduction.js").Practice} practice */
  practise(task, practice) {
    const { outbox } = this;
    Object.assign(this, { practice, outbox: practice });
    this.drawView();
    this.show(task);
    return () => {
      Object.assign(this, { practice: null, outbox, task: null });
      this.start();
    };
  }

  start() {
    this.drawView();
    const unfinished = [this.data.task, this.data.next].filter((task) => task && !this.isFinishing(task.id));
    const left = this.outbox.finishing.filter((entry) => entry.scope === this.scope).length;
    this.progress = { ...this.progress, left: Math.max(0, this.progress.left - left) };
    if (this.outbox.broken.length) page.notify(say("unreadable", { n: this.outbox.broken.length }));
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
    noteGuidelines(this.data.guideline_version, task.guideline_version);
    this.held = { task, since: performance.now() };
  }

  /** Something else comes first; what is in hand comes after it, as it is now. */
  setAside() {
    if (!this.task) return;
    this.saveTyped();
    this.hold({ ...this.task, labels: [...this.labels.values()].filter((label) => label.revision > 0) });
  }

  /** @param {Task} task */
  show(task) {
    this.task = task;
    noteGuidelines(this.data.guideline_version, task.guideline_version);
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
    this.questions.showTask();
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
    this.announceTask();
    if (performance.now() - held.since > FRESH_MS) void this.refresh(held.task.id);
  }

  /** A task arrived (or the news that there is none). @param {Task|null} task */
  take(task) {
    if (!task || this.heldIds().includes(task.id)) return;
    if (this.task) {
      if (!this.held) this.hold(task);
      return;
    }
    this.show(task);
    this.announceTask();
  }

  /** Asks for a task to show, or to hold when one is shown. */
  async fetchWork() {
    if (this.asking) return;
    this.asking = true;
    this.finishedMeanwhile.clear();
    if (!this.task) page.showStage("loading");
    const reply = await this.api.work(this.heldIds());
    this.asking = false;
    this.outbox.heard(reply);
    if (reply.outcome !== "ok") return this.workIsAway(reply);
    // The reply to a submission brought the same task, and quick hands finished it before this one came.
    if (reply.data.task && this.finishedMeanwhile.has(reply.data.task.id)) return this.fetchWork();
    if (!this.outbox.finishing.length) this.progress = reply.data.progress;
    this.take(reply.data.task);
    if (this.task) return this.drawProgress();
    if (this.outbox.finishing.length) this.onOutboxChanged();
    else page.showStage("done");
  }

  workIsAway(reply) {
    if (reply.outcome === "ended") return this.onOutboxChanged();
    if (this.task) return;
    if (reply.outcome === "refused") return page.showEnded(reply.message);
    page.showStage("away");
    setTimeout(() => this.wake(), ASK_AGAIN_MS);
  }

  /** Anything left undone because the server was away? */
  wake() {
    this.outbox.flush();
    if (!this.task && document.documentElement.dataset.stage === "away" && !this.outbox.finishing.length) void this.fetchWork();
  }

  /** After the work here had ended: perhaps the annotator is a member again. */
  askAgain() {
    this.outbox.flush();
    void this.fetchWork();
  }

  /** Takes over what was saved elsewhere, except where a choice made here is still on its way. */
  async refresh(id) {
    const reply = await this.api.task(id);
    if (this.task?.id !== id) return;
    if (reply.outcome === "refused" && GONE.has(reply.status)) return this.onLost(id, reply.message);
    if (reply.outcome !== "ok") return;
    if (!OPEN.has(reply.data.task.status)) return this.onLost(id, say("not_open"));
    this.task.threads = reply.data.task.threads;
    const pending = new Set(this.outbox.labelsOf(id).map((entry) => stepKey(entry.unit, entry.criterion)));
    const theirs = new Map(reply.data.task.labels.map((label) => [stepKey(label.unit, label.criterion), label]));
    for (const step of this.steps) {
      // What is being typed builds on what stood there: if that is another by now, saving it will tell.
      if (pending.has(step.key) || this.comment.isTypedFor(step.key) || this.written.isTypedFor(step.key)) continue;
      if (theirs.has(step.key)) this.labels.set(step.key, theirs.get(step.key));
      else this.labels.delete(step.key);
      this.drawState(step);
    }
    this.drawStep();
    this.questions.showTask();
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
    this.comment.draw(this.step.key, this.labels.get(this.step.key)?.comment ?? "");
    this.written.draw(this.step);
    this.proposed.draw();
    if (this.view === "all") form.turnFormTo(this.step);
    if (this.step.key !== this.drawn) followFocus();
    this.drawn = this.step.key;
    this.texts.showStep();
    this.questions.showStep();
    this.drawProgress();
  }

  /** @param {Step} step */
  drawState(step) {
    page.drawStepState(step, this.labels);
    form.drawFormStep(step, this.labels.get(step.key));
    this.written.drawCards();
  }

  // --- one question at a time, or all at once ---

  drawView() {
    document.documentElement.dataset.view = this.view;
    const other = this.view === "all" ? "one" : "all";
    setText("view-words", say(`show_${other}`));
    Object.assign(byId("view"), { title: say(`view_${other}`), ariaLabel: say(`view_${other}`) });
  }

  drawForm() {
    if (this.view !== "all") return;
    form.drawForm(this.task, this.steps, this.labels, this.data.keys.cant_tell[0] ?? "");
    this.written.bindCards();
  }

  switchView() {
    this.view = this.view === "all" ? "one" : "all";
    this.drawView();
    void this.api.prefer({ view: this.view });
    if (!this.task) return;
    this.drawForm();
    this.drawStep();
    announce(say(`view_${this.view}`));
  }

  drawProgress() {
    page.drawProgress(this.steps, this.labels, this.progress);
    this.practice?.follow(this.steps, this.labels);
  }

  /** @param {number|null} index */
  go(index) {
    if (index === null || !this.task) return;
    this.saveTyped();
    this.at = index;
    page.hint("");
    this.drawStep();
    this.announceStep();
  }

  announceStep() {
    announce(stepAloud(this.task, this.step, this.labels.get(this.step.key)));
  }

  announceTask() {
    announce(taskAloud(this.task));
    this.announceStep();
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
    this.saveTyped();
    if (isMulti(step.criterion)) return this.toggle(value);
    if (this.labels.get(step.key)?.value !== value) this.say(step, { value, cant_tell: "" });
    this.goOn(at);
  }

  /** One option more or less: the step stays in hand. @param {unknown} pressed  an option's value, or [] for none */
  toggle(pressed) {
    const { step } = this;
    this.say(step, { value: toggled(step.criterion, this.labels.get(step.key)?.value, pressed), cant_tell: "" });
    this.drawStep();
    focusChoice(pressed);
    announce(choiceAloud(step, this.labels.get(step.key)));
  }

  /** Enter: a proposal is accepted, or a selection is as it should be; everything else is submitted. */
  enter() {
    if (!this.task || this.proposed.accept()) return;
    const next = isMulti(this.step.criterion) && isDone(this.labels.get(this.step.key)) ? nextOpen(this.steps, this.labels, this.at) : null;
    if (next === null) return this.submit();
    this.goOn(this.at);
  }

  /** Free text, each time the typing pauses: the step stays in hand. @param {Step} step @param {string|null} value */
  write(step, value) {
    this.say(step, { value, cant_tell: "" });
    this.drawProgress();
    if (step === this.step) page.drawChoice(this.labels.get(step.key));
  }

  /** Free text is as it should be. */
  goOnWritten() {
    const { at } = this;
    this.saveTyped();
    this.goOn(at);
  }

  /** Says what is being typed, before something else is in hand. */
  saveTyped() {
    this.comment.save();
    this.written.save();
  }

  /** After a decision: says which it was, and goes to what is open. @param {number} from */
  goOn(from) {
    const step = this.steps[from];
    announce(choiceAloud(step, this.labels.get(step.key)));
    const next = nextOpen(this.steps, this.labels, from);
    if (next !== null) return this.go(next);
    this.drawStep();
    focusChoice(this.labels.get(step.key)?.value);
    announce(say("complete"));
  }

  /** Asks for the reason, and goes on as after any other decision. */
  async cantTell() {
    const { task, step, at } = this;
    if (!task || !step.criterion.cant_tell) return;
    this.saveTyped();
    const reason = await askReason("cant-tell", this.labels.get(step.key)?.cant_tell);
    if (!reason || this.task !== task) return;
    if (this.labels.get(step.key)?.cant_tell !== reason) this.say(step, { value: null, cant_tell: reason });
    this.goOn(at);
  }

  clear() {
    if (!this.task || !isDone(this.labels.get(this.step.key))) return;
    this.say(this.step, { value: null, cant_tell: "" });
    this.drawStep();
    announce(choiceAloud(this.step, this.labels.get(this.step.key)));
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
      { ...after, active_seconds: this.clock.seconds, active_ms: this.clock.spentOn(step.key), guideline_version: this.data.guideline_version },
      standing?.revision ?? 0,
    );
  }

  undo() {
    this.saveTyped();
    this.replay("undo", "before");
  }

  redo() {
    this.saveTyped();
    this.replay("redo", "after");
  }

  /** @param {"undo"|"redo"} move @param {"before"|"after"} side */
  replay(move, side) {
    if (!this.task) return;
    const deed = this.history[move]((key) => saidOf(this.labels.get(key)));
    if (!deed) return page.hint(say(`nothing_to_${move}`));
    const at = this.steps.findIndex((step) => step.key === deed.key);
    const step = this.steps[at];
    this.say(step, deed[side], false);
    this.at = at;
    this.drawStep();
    const part = changedPart(deed);
    const what = ["value", "cant_tell"].includes(part) ? page.saidName(step.criterion, deed[side]) : say(`part_${part}`);
    page.hint(say(`done_${move}`, { title: page.stepTitle(step), what }));
  }

  /** What was said, with the revision that the server last told. */
  remember(unit, criterion, said) {
    const key = stepKey(unit, criterion);
    this.labels.set(key, { ...this.labels.get(key), unit, criterion, ...saidOf(said), revision: this.labels.get(key)?.revision ?? 0 });
  }

  submit() {
    if (!this.task || this.questions.holdsBack() || this.holdsTooLong()) return;
    const missing = firstMissing(this.steps, this.labels);
    if (missing === null) return this.finish("submit", "");
    announce(say("still_open"));
    this.go(missing);
    page.explain(say("still_open"));
  }

  /** Whether words of the task are too long to be saved; then they are in hand, to be shortened before it goes. */
  holdsTooLong() {
    this.saveTyped();
    const at = this.steps.findIndex((step) => this.tooLong.has(this.task.id, step.key));
    if (at < 0) return false;
    announce(say("shorten"));
    this.go(at);
    page.explain(say("shorten"));
    return true;
  }

  async skip() {
    if (!this.task || this.questions.holdsBack() || this.holdsTooLong()) return;
    const { id } = this.task;
    const reason = await askReason("skip");
    if (reason && this.task?.id === id) this.finish("skip", reason);
  }

  /** Tells the admin that something is wrong with the sample. @param {string} [given] when it is sent again */
  async flag(given) {
    if (!this.task) return;
    if (this.practice) return page.hint(say("practice"));
    const { id } = this.task;
    const reason = given ?? (await askReason("flag"));
    if (reason) await this.sendFlag(id, reason);
  }

  ask() {
    if (!this.task) return;
    if (this.practice) return page.hint(say("practice_ask"));
    this.questions.panel.toggle();
  }

  async sendFlag(id, reason) {
    const reply = await this.api.flag(id, reason);
    this.outbox.heard(reply);
    if (reply.outcome === "ok") return page.hint(say("flagged"));
    const again = { label: say("try_again"), act: () => void this.sendFlag(id, reason) };
    page.notify(say("not_flagged", { reason, message: reply.message }), again);
  }

  finish(action, reason) {
    if (this.practice) return void this.practice.finished(action);
    const { id } = this.task;
    this.finishes.add({ task: { ...this.task, labels: [...this.labels.values()] }, action });
    byId("back").hidden = false;
    const counted = action === "submit" ? "done" : "skipped";
    this.progress = { ...this.progress, left: Math.max(0, this.progress.left - 1), [counted]: this.progress[counted] + 1 };
    this.finishedMeanwhile.add(id);
    this.outbox.putFinish({ task: id, action, reason, active_seconds: this.clock.seconds, scope: this.scope });
    // Said before what comes next is read out, and shown beside it.
    const told = say(counted === "done" ? "submitted" : "skipped", { left: this.progress.left });
    announce(told);
    this.advance();
    page.hint(told);
  }

  /** @param {Task} task @param {import("./take-back.js").Finished} finished */
  onTakenBack(task, { action }) {
    const counted = action === "submit" ? "done" : "skipped";
    this.progress = { ...this.progress, left: this.progress.left + 1, [counted]: Math.max(0, this.progress[counted] - 1) };
    this.setAside();
    this.show(task);
    this.at = 0;
    this.drawStep();
    byId("back").hidden = !this.finishes.any;
    page.hint(say("taken_back"));
    this.announceStep();
  }

  /** Others have it now: says what was chosen and written, so that nothing is lost silently, and gets the next one. */
  onLost(id, message) {
    if (this.held?.task.id === id) {
      // It has not been shown: another one takes its place.
      this.held = null;
      void this.fetchWork();
    }
    if (this.task?.id !== id) return;
    const listed = this.steps.flatMap((step) => {
      const label = this.labels.get(step.key);
      const comment = label?.comment ? ` “${label.comment}”` : "";
      return isDone(label) || comment ? [`${page.stepTitle(step)}: ${page.saidName(step.criterion, label)}${comment}`] : [];
    });
    const had = listed.length ? say("had_chosen", { list: listed.join("; ") }) : "";
    page.notify([message, had, this.wasWriting()].filter(Boolean).join(" "));
    this.held = null;
    this.advance();
  }

  /** What was being typed and has no task any more, in a sentence. */
  wasWriting() {
    const id = this.task?.id ?? 0;
    const text = [this.comment.giveUp(), this.written.giveUp(), this.tooLong.giveUp(id), this.questions.giveUp(id)].filter(Boolean).join(" ");
    return text && say("had_written", { text });
  }

  // --- what the server said ---

  onOutboxChanged() {
    const { state, finishing } = this.outbox;
    page.drawSaveState(state, this.outbox.isKept);
    if (state === "ended") return page.showEnded(this.outbox.ended);
    if (page.isEnded()) page.showStage(this.task ? "task" : "loading");
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
    if (step === this.step && !newer) page.drawChoice(label ?? undefined);
    this.texts.showEvidence();
    this.drawProgress();
  }

  onFinished(entry, reply) {
    this.finishes.answered(entry.task);
    void this.showFeedback(this.finishes.taskOf(entry.task), reply.data.feedback);
    const ours = entry.scope === this.scope;
    this.take(ours ? reply.data.next : null);
    // Nothing (new) came with the reply: this batch may be through, but another one may wait.
    if (ours && !(this.task && this.held)) void this.fetchWork();
  }

  /** Known answers come with the reply to a submission, where the batch shows them. @param {Task|undefined} task */
  async showFeedback(task, feedback) {
    if (!feedback.length || !task) return;
    const steps = new Map(stepsOf(task).map((step) => [step.key, step]));
    const rows = feedback.flatMap(({ unit, criterion, yours, answer, reason }) => {
      const step = steps.get(stepKey(unit, criterion));
      const name = (value) => page.valueName(step.criterion, value);
      return step ? [{ title: page.stepTitle(step), yours: name(yours), answer: name(answer), reason, same: yours === answer }] : [];
    });
    if (rows.length) await showUnasked(() => showFeedback(rows));
  }

  onRefused(entry, reply) {
    if (entry.kind === "finish") {
      this.finishes.forget(entry.task);
      const again = { label: say("open_again"), act: () => void this.reopen(entry.task) };
      page.notify(say("not_finished", { message: reply.message }), reply.code === "incomplete" ? again : undefined);
      if (!this.task) void this.fetchWork();
      return;
    }
    const { comment, value } = entry.tail ?? entry.head;
    const typed = [this.isWritten(entry) ? value : "", comment].filter(Boolean).join(" ");
    const words = typed && say("had_written", { text: typed });
    const refused = [say("refused", { title: entry.title, message: reply.message }), words].filter(Boolean).join(" ");
    if (entry.task !== this.task?.id) return page.notify(refused);
    if (reply.code === "task_released") {
      this.onLost(entry.task, reply.message);
    } else if (GONE.has(reply.status)) {
      page.notify([refused, this.wasWriting()].filter(Boolean).join(" "));
      this.held = null;
      this.advance();
    } else {
      page.notify(refused);
      void this.refresh(entry.task);
    }
  }

  /** Whether the label is free text, of the task in hand or one that was finished here. */
  isWritten(entry) {
    const task = this.task?.id === entry.task ? this.task : this.finishes.taskOf(entry.task);
    return Boolean(task?.criteria.some((one) => one.key === entry.criterion && isText(one)));
  }

  async reopen(id) {
    const reply = await this.api.task(id);
    if (reply.outcome !== "ok") return page.notify(reply.message || say("waiting"));
    this.setAside();
    this.show(reply.data.task);
    this.announceTask();
  }

  /** Asks which version counts, for one conflict after the other, until the person puts it off. */
  async settleConflict() {
    if (this.settling) return;
    this.settling = true;
    await showUnasked(async () => {
      while (this.outbox.conflict && (await this.settleOne(...this.outbox.conflict)));
    });
    this.settling = false;
  }

  /** @returns {Promise<boolean>} whether it was settled */
  async settleOne(entry, reply) {
    const task = entry.task === this.task?.id ? this.task : (await this.api.task(entry.task)).data?.task;
    const criterion = task?.criteria.find((one) => one.key === entry.criterion) ?? { options: [] };
    const shown = (said) => ({ value: page.saidName(criterion, said), comment: said?.comment ?? "", evidence: said?.evidence ?? [] });
    const choice = await askWhichVersion({ title: entry.title, mine: shown(entry.tail ?? entry.head), theirs: shown(reply.data.current) });
    if (choice !== "mine" && choice !== "theirs") return false;
    if (this.task?.id === entry.task && reply.data.current) {
      this.labels.set(stepKey(entry.unit, entry.criterion), { ...reply.data.current });
      if (choice === "mine") this.remember(entry.unit, entry.criterion, entry.tail ?? entry.head);
    }
    this.outbox.resolve(entry, choice);
    if (this.task?.id === entry.task) this.drawStep();
    return true;
  }
}
