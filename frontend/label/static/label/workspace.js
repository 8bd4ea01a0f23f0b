/** The page on which one labels: keys, buttons, dialogs and the browser's own events for the workspace. */

import { byId, say } from "../base/dom.js";
import { bindImageZoom } from "../base/image-zoom.js";
import { actsByKey, bindKeys, switchShortcuts } from "../base/keys.js";
import { prepareDialogs, showHelp } from "./dialogs.js";
import * as form from "./form.js";
import { bindGuidelineNews } from "./guideline-news.js";
import { introduce } from "./introduction.js";
import { Workspace } from "./labelling.js";
import { startHeartbeat } from "./presence.js";
import * as page from "./render.js";
import { SidePanel } from "./side-panel.js";
import { isText, stepKey, stepOfUnit } from "./steps.js";

/** What scrolls the contexts: their column, or on smaller windows the texts as a whole. */
const scrollable = (column) => (getComputedStyle(column).overflowY === "auto" ? column : column.parentElement);

/** To the field of an answer that is written, as to the first option of one that is chosen. */
const WRITE_KEY = "1";

/** @param {Workspace} workspace */
function bind(workspace) {
  const options = byId("options");
  const all = () => workspace.view === "all";
  const optionOf = (key) => (all() ? form.formOption(workspace.step, key) : options.querySelector(`[data-key="${CSS.escape(key)}"]`));
  const pick = (button) => workspace.choose(JSON.parse(button.dataset.value));
  const next = () => workspace.goUnit(1);
  const previous = () => workspace.goUnit(-1);
  const comment = () => byId("comment").focus();
  const prose = byId("guidelines-panel").querySelector(".prose");
  const guidelines = new SidePanel({ panel: "guidelines-panel", button: "guidelines", close: "close-guidelines", focus: () => prose });
  const scroll = (direction) => {
    const contexts = byId("contexts-column");
    const area = guidelines.isInHand ? prose : scrollable(contexts.hidden ? byId("question-column") : contexts);
    area.scrollBy(0, direction * 0.8 * area.clientHeight);
  };

  const texts = workspace.texts.actions;

  const typeNumber = (key) => {
    const field = (all() && form.formNumber(workspace.step)) || byId("number");
    field.value = key;
    field.focus();
  };
  const writeText = () => ((all() && form.formText(workspace.step)) || byId("text")).focus();
  const acts = {
    next_unit: next, previous_unit: previous,
    next_step: () => workspace.goStep(1), previous_step: () => workspace.goStep(-1),
    cant_tell: () => void workspace.cantTell(), clear: () => workspace.clear(), comment,
    undo: () => workspace.undo(), redo: () => workspace.redo(),
    help_text: () => workspace.task && page.toggleHelp(workspace.step.criterion), guidelines: () => guidelines.toggle(),
    view: () => workspace.switchView(), skip: () => void workspace.skip(), flag: () => void workspace.flag(),
    ask: () => workspace.ask(), back: () => void workspace.finishes.takeBack(), keys: showHelp,
    page_down: () => scroll(1), page_up: () => scroll(-1),
    evidence: texts.evidence, search: texts.search, markers: texts.markers,
    submit: () => workspace.texts.selected.attach() || workspace.enter(),
  };

  bindKeys({
    option: (key) => {
      if (!workspace.task) return undefined;
      const { criterion } = workspace.step;
      if (isText(criterion)) return key === WRITE_KEY ? writeText : undefined;
      if (!criterion.options.length && /\d/.test(key)) return () => typeNumber(key);
      const button = optionOf(key);
      return button ? () => pick(button) : undefined;
    },
    actions: {
      ArrowRight: next, ArrowLeft: previous, PageDown: acts.page_down, PageUp: acts.page_up, Enter: acts.submit,
      "ctrl+z": acts.undo, "ctrl+shift+z": acts.redo, "ctrl+y": acts.redo,
      ...actsByKey(workspace.data.keys, acts),
    },
    asleep: page.isEnded,
  });
  bindGuidelineNews(() => workspace.api.guidelinesSeen());
  bindImageZoom();
  form.bindForm({
    go: (key) => {
      const at = workspace.steps.findIndex((step) => step.key === key);
      if (at >= 0 && at !== workspace.at) workspace.go(at);
    },
    choose: (value) => workspace.choose(value),
    cantTell: () => void workspace.cantTell(),
  });
  startHeartbeat({
    tasks: () => [workspace.task, workspace.held?.task].filter(Boolean),
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
    // Selecting text is no wish to go anywhere.
    if (marked && getSelection().isCollapsed) workspace.go(stepOfUnit(workspace.steps, workspace.labels, marked.dataset.units.split(" ")[0]));
  });
  for (const field of [byId("comment"), byId("number")]) {
    field.addEventListener("keydown", (event) => event.key === "Escape" && field.blur());
  }
  for (const area of [byId("text"), byId("form")]) {
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !event.target.matches("textarea")) return;
      event.preventDefault();
      event.target.blur();
      workspace.goOnWritten();
    });
  }
  byId("number-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("number").value !== "") workspace.choose(byId("number").valueAsNumber);
  });
  const clicks = { next, previous, clear: () => workspace.clear(), submit: () => workspace.submit(), skip: () => workspace.skip(),
    flag: () => workspace.flag(), back: acts.back, "back-done": acts.back, "cant-tell": acts.cant_tell, view: acts.view,
    undo: acts.undo, redo: acts.redo, "help-text": acts.help_text, help: showHelp, resolve: () => workspace.settleConflict(), "try-again": () => workspace.wake(),
    "ended-again": () => workspace.askAgain() };
  for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", () => void act());

  const wake = () => document.visibilityState === "visible" && workspace.wake();
  window.addEventListener("online", wake);
  window.addEventListener("focus", wake);
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("pagehide", () => workspace.saveTyped());
  window.addEventListener("beforeunload", (event) => {
    workspace.saveTyped();
    if (!workspace.outbox.isKept || workspace.questions.isWriting || workspace.tooLong.any) event.preventDefault();
  });
}

const data = JSON.parse(byId("workspace-data").textContent);
byId("log-in").href = `${data.login_url}?next=${encodeURIComponent(location.pathname + location.search)}`;
const workspace = new Workspace(data);
prepareDialogs({
  shortcuts: (on) => {
    switchShortcuts(on);
    void workspace.api.prefer({ single_keys: on }).then((reply) => reply.outcome !== "ok" && page.notify(say("not_kept")));
  },
});
bind(workspace);
// Work that waits to be sent comes first.
if (data.introduction && !workspace.outbox.holds) introduce(workspace);
else workspace.start();
