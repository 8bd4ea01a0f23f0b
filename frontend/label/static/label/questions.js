/**
 * The panel in which the annotator asks the reviewers about the task in hand, and reads what they answered. The server
 * hands out a task with its threads (annotate/tasks/threads_read.py), so that opening it asks for nothing.
 *
 * What is being written belongs to its task: it waits there when another one is shown, and holds back submitting.
 *
 * @typedef {{number: number, text: string, at: string, by: "you"|"reviewer", name: string|null}} Message
 * @typedef {{id: number, unit: string, criterion: string|null, state: "waiting"|"answered"|"closed", is_new: boolean, messages: Message[]}} Thread
 * @typedef {{text: string, about: string, key: string}} Draft
 */

import { bdi, byId, element, say, setText } from "../base/dom.js";
import { uuid } from "./outbox.js";
import { hint, stepTitle } from "./render.js";
import { SidePanel } from "./side-panel.js";
import { stepKey } from "./steps.js";

const NEW = "new:";
const REPLY = "reply:";
const emptyDraft = () => ({ text: "", about: "", key: uuid() });

export class Questions {
  /** By the id of their task. @type {Map<number, Draft>} */ #drafts = new Map();
  #sending = false;

  /**
   * @param {object} wiring
   * @param {ReturnType<typeof import("./api.js").createApi>} wiring.api
   * @param {() => import("./steps.js").Task|null} wiring.task
   * @param {() => import("./steps.js").Step[]} wiring.steps
   * @param {() => import("./steps.js").Step} wiring.step  the one in hand
   */
  constructor(wiring) {
    this.wiring = wiring;
    this.field = byId("ask-text");
    this.about = byId("ask-about");
    this.panel = new SidePanel({
      panel: "ask-panel",
      button: "ask",
      close: "close-ask",
      focus: () => this.field,
      turned: (isOpen) => isOpen && this.#opened(),
    });
    this.field.addEventListener("input", () => this.#typed());
    this.about.addEventListener("change", () => this.#typed());
    byId("ask-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("ask-form").requestSubmit();
    });
    byId("ask-threads").addEventListener("click", (event) => {
      const button = event.target.closest("[data-turn]");
      if (button) void this.#turn(Number(button.dataset.thread), button.dataset.turn);
    });
  }

  /** @returns {Thread[]} */
  get #threads() {
    return this.wiring.task()?.threads ?? [];
  }

  /** @returns {Draft} of the task in hand */
  get #draft() {
    return this.#drafts.get(this.wiring.task()?.id ?? 0) ?? emptyDraft();
  }

  /** Whether anything is written that was not sent. */
  get isWriting() {
    return [...this.#drafts.values()].some((draft) => draft.text.trim());
  }

  /** Another task is in hand. */
  showTask() {
    byId("ask").hidden = !this.wiring.task()?.threads;
    if (this.panel.isOpen) return this.#opened();
    this.#draw();
    if (this.#threads.some((thread) => thread.is_new)) hint(say("ask_news"));
  }

  /** Another step is: what is not begun yet would be about it. */
  showStep() {
    if (!this.#draft.text.trim()) this.#drawAbout();
  }

  /** Whether something is written about the task in hand and not sent: says so, so that it isn't left behind. */
  holdsBack() {
    if (!this.#draft.text.trim()) return false;
    if (!this.panel.isOpen) this.panel.toggle();
    this.field.focus();
    this.#fail(say("ask_unsent"));
    return true;
  }

  /** The task is lost: returns the words, so that the annotator can be told them. @param {number} id @returns {string} */
  giveUp(id) {
    const { text } = this.#drafts.get(id) ?? emptyDraft();
    this.#drafts.delete(id);
    return text.trim();
  }

  #opened() {
    this.#draw();
    for (const thread of this.#threads) {
      if (thread.is_new) void this.#read(thread);
    }
  }

  #typed() {
    const task = this.wiring.task();
    if (!task) return;
    // Other words, or about another thing, are another message.
    this.#drafts.set(task.id, { text: this.field.value, about: this.about.value, key: uuid() });
    this.#fail("");
  }

  #draw() {
    const news = this.#threads.filter((thread) => thread.is_new).length;
    byId("ask").toggleAttribute("data-new", news > 0);
    setText("ask-words", news ? say("ask_new", { n: news }) : say("ask"));
    byId("ask-threads").replaceChildren(...this.#threads.map((thread) => this.#card(thread)));
    byId("ask-none").hidden = this.#threads.length > 0;
    this.field.value = this.#draft.text;
    this.#fail("");
    this.#drawAbout();
  }

  #drawAbout() {
    const { about } = this.#draft;
    const step = this.wiring.task() && this.wiring.step();
    if (!step) return;
    const open = this.#threads.filter((thread) => thread.state !== "closed");
    const options = [
      { value: NEW + step.key, text: stepTitle(step) },
      { value: NEW, text: say("ask_sample") },
      ...open.map((thread) => ({ value: `${REPLY}${thread.id}`, text: say("ask_reply", { title: this.#title(thread) }) })),
    ];
    // What was begun about another step stays about it.
    const begun = this.wiring.steps().find((one) => NEW + one.key === about);
    if (begun && begun !== step) options.unshift({ value: about, text: stepTitle(begun) });
    this.about.replaceChildren(...options.map((option) => element("option", option)));
    const here = open.find((thread) => thread.criterion && stepKey(thread.unit, thread.criterion) === step.key);
    const likely = here ? `${REPLY}${here.id}` : NEW + step.key;
    this.about.value = options.some((option) => option.value === about) ? about : likely;
  }

  /** @param {Thread} thread */
  #title(thread) {
    const key = thread.criterion && stepKey(thread.unit, thread.criterion);
    const step = this.wiring.steps().find((one) => one.key === key);
    return step ? stepTitle(step) : say("ask_sample");
  }

  /** @param {Thread} thread */
  #card(thread) {
    const isClosed = thread.state === "closed";
    const button = element("button", {
      type: "button", className: "button button-quiet button-small", text: say(isClosed ? "ask_reopen" : "ask_close"),
      data: { thread: thread.id, turn: isClosed ? "reopen" : "close" },
    });
    const state = element("span", { className: `badge${thread.is_new ? " badge-ok" : ""}`, text: say(`ask_${thread.state}`) });
    return element("article", {
      className: "ask-thread",
      children: [
        element("div", { className: "ask-thread-head", children: [element("h3", { children: [bdi(this.#title(thread))] }), state] }),
        ...thread.messages.map(message),
        button,
      ],
    });
  }

  async #read(thread) {
    const reply = await this.wiring.api.readThread(thread.id, thread.messages.at(-1).number);
    // What could not be marked is new again at the next visit.
    if (reply.outcome === "ok") this.#take(thread, reply.data, { redraw: false });
  }

  async #turn(id, what) {
    const thread = this.#threads.find((one) => one.id === id);
    const reply = await this.wiring.api.turnThread(id, what);
    if (reply.outcome !== "ok") return this.#fail(say("ask_failed", { message: reply.message }));
    this.#take(thread, reply.data);
    this.field.focus();
  }

  async #send() {
    const task = this.wiring.task();
    const { text, key } = this.#draft;
    if (!task || this.#sending) return;
    if (!text.trim()) return this.#fail(say("ask_empty"));
    const about = this.about.value;
    const thread = this.#threads.find((one) => `${REPLY}${one.id}` === about);
    const step = this.wiring.steps().find((one) => NEW + one.key === about);
    this.#sending = true;
    const reply = await (thread
      ? this.wiring.api.reply(thread.id, text, key)
      : this.wiring.api.ask(task.id, step ? { unit: step.unit, criterion: step.criterion.key, text } : { text }, key));
    this.#sending = false;
    if (reply.outcome !== "ok") {
      if (this.wiring.task() === task) this.#fail(say("ask_failed", { message: reply.message }));
      return;
    }
    // What was typed while it was on its way is the next message.
    if (this.#drafts.get(task.id)?.key === key) this.#drafts.delete(task.id);
    if (thread) Object.assign(thread, reply.data);
    else task.threads.push(reply.data);
    if (this.wiring.task() === task) this.#draw();
    hint(say("ask_sent"));
  }

  /** @param {Thread} thread @param {Thread} now as the server has it */
  #take(thread, now, { redraw = true } = {}) {
    Object.assign(thread, now);
    if (redraw) return this.#draw();
    byId("ask").removeAttribute("data-new");
    setText("ask-words", say("ask"));
  }

  /** @param {string} text "" when nothing is wrong */
  #fail(text) {
    setText("ask-error", text);
    byId("ask-error").hidden = !text;
  }
}

/** @param {Message} one */
function message(one) {
  const who = one.by === "you" ? say("ask_you") : one.name || say("ask_reviewer");
  const at = element("time", { dateTime: one.at, text: new Date(one.at).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }) });
  return element("div", {
    className: "ask-message", data: { by: one.by },
    children: [
      element("p", { className: "small muted", children: [bdi(who), " · ", at] }),
      element("p", { className: "text", children: [bdi(one.text)] }),
    ],
  });
}
