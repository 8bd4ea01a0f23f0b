/** The page on which claims are edited: keys, buttons and pointers for the editor. */

import { byId } from "../base/dom.js";
import { actsByKey, bindKeys, meant, shortcutsOn } from "../base/keys.js";
import { Editor } from "./claims-editor.js";
import * as view from "./claims-view.js";

/** @param {Editor} editor */
function bind(editor) {
  const acts = {
    split: () => editor.split(), merge: () => editor.merge(), edit: () => editor.edit(), move: () => editor.move(),
    drop: () => editor.drop(), add: () => editor.add(), write: () => editor.write(), dropped: () => editor.toDropped(),
    undo: () => editor.back("past"), redo: () => editor.back("future"), done: () => editor.done(),
    split_again: () => editor.act(() => ({ op: "split_again" })),
    cancel: () => editor.leave(), confirm: () => editor.confirm(),
    help: () => byId("keys").showModal(),
    restore: (button) => {
      const claim = Number(button.dataset.index);
      editor.act(() => ({ op: "restore", claim }));
    },
  };
  const { keys } = editor.data;
  bindKeys({
    option: () => undefined,
    actions: {
      ArrowDown: () => editor.step(1), ArrowUp: () => editor.step(-1), Enter: acts.done,
      ...actsByKey(keys, {
        ...acts, bounds: acts.move, keys: acts.help, next_unit: () => editor.step(1), previous_unit: () => editor.step(-1),
        // Only while a passage is being chosen; see below.
        write: undefined,
      }),
    },
  });
  // Before the keys above: while something is being chosen, keys choose.
  document.addEventListener("keydown", (event) => {
    if (!editor.mode || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const key = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const target = /** @type {Element} */ (event.target);
    const onButton = target.matches("button");
    const act =
      key === "Escape" ? acts.cancel
      : key === "Enter" && !event.shiftKey && !onButton ? acts.confirm
      : editor.mode.keys[key] ? () => editor.pressed(key)
      : editor.mode.kind === "add" && shortcutsOn() && keys.write?.some((one) => meant(event).includes(one)) ? acts.write
      : null;
    if (!act && (target.matches("textarea") || key === "Tab" || onButton)) return event.stopPropagation();
    event.stopPropagation();
    if (!act) return undefined;
    event.preventDefault();
    act();
    return undefined;
  }, { capture: true });

  document.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const button = target.closest("[data-act], [data-key]");
    if (button?.dataset.key) return editor.pressed(button.dataset.key);
    if (button) return acts[button.dataset.act](button);
    const cut = target.closest("[data-cut]");
    if (cut && editor.mode?.kind === "split") {
      editor.mode.at = Number(cut.dataset.cut);
      return editor.draw();
    }
    if (editor.mode) return undefined;
    const mark = getSelection().isCollapsed ? target.closest(".ce-mark, .ce-claim") : null;
    if (mark) editor.go(Number((mark.dataset.indices ?? mark.dataset.index).split(" ")[0]));
    return undefined;
  });
  document.addEventListener("selectionchange", () => {
    const selected = view.selectedInAnswer();
    if (!selected && !byId("answer").contains(getSelection().anchorNode)) return;
    if (editor.mode?.picked && selected) return;
    editor.selected = selected;
    byId("add-selected").hidden = editor.fixed || !selected;
  });
  // A passage can be chosen with the pointer as well.
  byId("answer").addEventListener("pointerup", () => {
    const selected = view.selectedInAnswer();
    if (!editor.mode?.picked || !selected) return;
    editor.mode.set(selected.start, selected.end);
    getSelection().removeAllRanges();
    editor.draw();
  });
  link();
  window.addEventListener("beforeunload", (event) => editor.sending && event.preventDefault());
}

/** Pointing at a claim shows its place, and the other way round. */
function link() {
  const point = (event) => {
    const { index, indices } = event.target.closest(".ce-mark, .ce-claim")?.dataset ?? {};
    const pointed = new Set((index ?? indices ?? "").split(" ").filter(Boolean));
    for (const row of document.querySelectorAll(".ce-claim")) row.classList.toggle("linked", pointed.has(row.dataset.index));
    for (const mark of document.querySelectorAll(".ce-mark")) {
      mark.classList.toggle("linked", mark.dataset.indices.split(" ").some((one) => pointed.has(one)));
    }
  };
  byId("editor").addEventListener("pointerover", point);
  byId("editor").addEventListener("pointerleave", point);
}

const editor = new Editor(JSON.parse(byId("claims-data").textContent));
bind(editor);
byId("editor").hidden = false;
document.documentElement.dataset.ready = "yes";
editor.focus();
