/** What one can do with the texts of a task: evidence, search, citations, unseen characters. The workspace tells what it shows. */

import { announce } from "../base/announce.js";
import { byId, say } from "../base/dom.js";
import { piecesOf } from "../base/spans.js";
import { EvidenceCursor } from "./evidence-cursor.js";
import { Evidence } from "./evidence.js";
import { paintNothing } from "./highlights.js";
import { markUnseen, suspectsIn, unmarkUnseen } from "./invisible.js";
import { Linked } from "./linked.js";
import { forgetPlaces } from "./places.js";
import { Search } from "./search.js";
import { Selected } from "./selection.js";

/**
 * @typedef {{text: string, element: Element, begins: number[], folded?: import("./fold.js").Folded, sentences?: import("./sentences.js").Sentences}} Context
 *   a context on the screen; `begins`: where its pieces begin, which are the element's children
 */

const FLASH_MS = 1_600;
// Where words of a sample or of a criterion stand.
const WORDS = ["question", "answer", "answer-b", "claims", "facts", "entities", "reference", "contexts", "unit-text", "options", "form"];

export class Texts {
  /** @type {Context[]} */ contexts = [];
  #stepKey = "";
  #showsUnseen;

  /** @param {import("./labelling.js").Workspace} workspace */
  constructor(workspace) {
    this.workspace = workspace;
    this.#showsUnseen = workspace.data.preferences.markers;
    this.evidence = new Evidence(this);
    this.cursor = new EvidenceCursor(this);
    this.search = new Search({ opened: () => this.arrangeBar(), closed: (place) => (this.cursor.resumeAt(place), this.arrangeBar()) });
    this.selected = new Selected(this);
    this.linked = new Linked(this);
    const clicks = { "search-open": this.actions.search, "evidence-start": this.actions.evidence, "show-unseen": this.actions.markers, "unseen-show": this.actions.markers };
    for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
    for (const id of ["answer", "answer-b"]) {
      byId(id).addEventListener("click", (event) => this.#onCitation(event));
      // One that leads nowhere is no link to the browser, and Enter would be the workspace's.
      byId(id).addEventListener("keydown", (event) => event.key === "Enter" && event.target.matches(".cite-missing") && this.#onCitation(event));
    }
  }

  /** What keys do here, by the name of the action. */
  get actions() {
    return { evidence: () => this.startEvidence(), search: () => this.workspace.task && !byId("contexts-column").hidden && this.search.open(), markers: () => this.toggleUnseen() };
  }

  /** Another task is on the screen. @param {import("./steps.js").Task} task */
  showTask(task) {
    paintNothing();
    const boxes = byId("contexts").children;
    this.contexts = task.sample.contexts.map(({ text }, i) => ({ text, element: boxes[i].querySelector(".text"), begins: piecesOf(text) }));
    this.search.start(this.contexts);
    this.cursor.forget();
    this.linked.forget();
    this.#hint(task.sample);
  }

  /** Another step is in hand, or the same one was drawn again. */
  showStep() {
    const { key } = this.workspace.step;
    if (key !== this.#stepKey) this.cursor.leave();
    this.#stepKey = key;
    if (this.#showsUnseen) this.#markAll();
    this.showEvidence();
  }

  /** What was said about the step in hand may have changed. */
  showEvidence() {
    this.evidence.draw();
    this.selected.update();
  }

  /** Key `e`: what is selected, else the cursor. */
  startEvidence() {
    if (!this.workspace.task || this.selected.attach()) return;
    if (this.evidence.possible) this.cursor.enter();
    else announce(say("evidence_not_here"));
  }

  /** One thing at a time over the contexts: the search, the evidence cursor, or else what they are called. */
  arrangeBar() {
    if (this.cursor.isOut && this.search.isOpen) this.search.close();
    byId("contexts-tools").hidden = this.cursor.isOut || this.search.isOpen;
  }

  // --- citations ---

  #onCitation(event) {
    const cited = event.target.closest(".cite");
    if (!cited) return;
    // A citation within a claim goes to its context, and not to the claim.
    event.stopPropagation();
    event.preventDefault();
    if (!cited.dataset.first) return announce(cited.ariaLabel);
    const boxes = [...byId("contexts").children].slice(cited.dataset.first - 1, cited.dataset.last);
    boxes[0].scrollIntoView({ block: "start" });
    boxes[0].focus({ preventScroll: true });
    for (const box of boxes) {
      box.classList.add("cited");
      setTimeout(() => box.classList.remove("cited"), FLASH_MS);
    }
  }

  // --- invisible characters ---

  toggleUnseen() {
    this.#showsUnseen = !this.#showsUnseen;
    void this.workspace.api.prefer({ markers: this.#showsUnseen });
    if (this.#showsUnseen) this.#markAll();
    else if (WORDS.filter((id) => unmarkUnseen(byId(id))).length) this.#redraw();
    byId("show-unseen").ariaPressed = byId("unseen-show").ariaPressed = String(this.#showsUnseen);
    announce(say(this.#showsUnseen ? "unseen_shown" : "unseen_hidden"));
  }

  #markAll() {
    if (WORDS.filter((id) => markUnseen(byId(id))).length) this.#redraw();
  }

  /** Ranges point to text nodes, which are others now. */
  #redraw() {
    forgetPlaces();
    if (!this.workspace.task) return;
    this.evidence.draw();
    this.search.repaint();
    this.cursor.repaint();
    this.linked.forget();
  }

  #hint(sample) {
    const listed = [...sample.contexts, ...sample.claims.filter(({ start }) => start === null)].map(({ text }) => text);
    const texts = [sample.question, sample.answer, sample.answer_b, sample.reference, ...listed, ...sample.key_facts, ...sample.entities];
    const found = suspectsIn(texts.filter(Boolean));
    byId("unseen-hint").hidden = !found.size;
    byId("unseen-names").textContent = Array.from(found, ([name, n]) => (n > 1 ? `${name} ×${n}` : name)).join(", ");
    byId("show-unseen").ariaPressed = byId("unseen-show").ariaPressed = String(this.#showsUnseen);
  }
}
