/**
 * The first visit: a practice sample in the panel in which everything is labelled, and three steps above it. What is
 * chosen stays in the page.
 */

import { announce } from "../base/announce.js";
import { byId } from "../base/dom.js";
import { tally } from "./steps.js";

/** @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label */

// Where Escape leaves something else.
const HAS_ESCAPE = "input, textarea, #guidelines-panel, #evidence-cursor";

/** Takes the outbox's place, and sends nothing. */
export class Practice {
  state = "saved";
  isKept = true;
  conflict = null;
  finishing = [];
  #step = 0;
  #read = false;

  /**
   * @param {import("./labelling.js").Workspace} workspace
   * @param {(action: string) => Promise<void>} finished
   */
  constructor(workspace, finished) {
    this.workspace = workspace;
    this.finished = finished;
    byId("introduction-next").addEventListener("click", () => {
      this.#read = true;
      this.#turnTo(Math.min(this.#step + 1, 3));
    });
  }

  labelsOf() {
    return [];
  }

  flush() {}

  heard() {}

  putLabel(which, said, revision) {
    const { task, unit, criterion } = which;
    this.workspace.onSaved({ task, unit, criterion }, { unit, criterion, ...said, revision: revision + 1 });
  }

  /** Which of the three steps it is by now. @param {Step[]} steps @param {Map<string, Label>} labels */
  follow(steps, labels) {
    const { done, missing } = tally(steps, labels);
    this.#turnTo(missing === 0 ? 3 : done || this.#read ? 2 : 1);
  }

  #turnTo(number) {
    if (number === this.#step) return;
    this.#step = number;
    const items = [...byId("introduction-steps").children];
    for (const [i, item] of items.entries()) item.ariaCurrent = i + 1 === number ? "step" : null;
    byId("introduction-next").disabled = number === items.length;
    announce(items[number - 1].innerText);
  }
}

/** @param {import("./labelling.js").Workspace} workspace whose work starts when this ends */
export function introduce(workspace) {
  const strip = byId("introduction");
  const { task, answers } = workspace.data.introduction;
  const listen = new AbortController();

  const end = () => {
    if (listen.signal.aborted) return;
    listen.abort();
    // Where it is not remembered, the first label does the same.
    void workspace.api.prefer({ introduced: true });
    history.replaceState(null, "", withoutIntroduction());
    if (strip.contains(document.activeElement)) document.activeElement.blur();
    strip.hidden = true;
    start();
    if (workspace.task) workspace.announceTask();
  };
  const practice = new Practice(workspace, async (action) => {
    if (action === "submit") {
      const given = (unit, criterion) => workspace.labels.get(`${unit}|${criterion}`)?.value;
      await workspace.showFeedback(task, answers.map((one) => ({ ...one, yours: given(one.unit, one.criterion) })));
    }
    end();
  });

  strip.hidden = false;
  announce(byId("introduction-title").textContent);
  const start = workspace.practise(task, practice);
  byId("introduction-skip").addEventListener("click", end);
  document.addEventListener("keydown", (event) => {
    const isElsewhere = document.querySelector("dialog[open], :popover-open") || /** @type {Element} */ (event.target).closest(HAS_ESCAPE);
    if (event.key === "Escape" && !event.repeat && !event.defaultPrevented && !isElsewhere) end();
  }, { signal: listen.signal });
}

/** The page's address, as work is reloaded by it. */
function withoutIntroduction() {
  const url = new URL(location.href);
  url.searchParams.delete("introduction");
  return url;
}
