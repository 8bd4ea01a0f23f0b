/**
 * Images come into the text of guidelines: by a button, by paste, or dropped on it. The author says what each shows, then
 * it is uploaded, and its Markdown stands where the cursor was.
 */

import { byId, say } from "../base/dom.js";
import { createRequest } from "../base/request.js";

export class ImageEditor {
  /** Files that wait for their words, the one that is asked about first. @type {File[]} */ #waiting = [];
  /** Where the image comes. @type {[number, number]} */ #cursor = [0, 0];
  /** Counts what was opened: what was uploaded for a dialog that is closed by now is not inserted. */ #opened = 0;

  /** @param {{upload: string, user_id: number, csrf_cookie: string}} data */
  constructor(data) {
    this.url = data.upload;
    this.request = createRequest(data);
    this.text = byId("id_text");
    this.dialog = byId("image-dialog");
    this.words = byId("image-words");
    this.insert = byId("image-insert");
    byId("image-tools").hidden = false;
    this.#bindSources();
    byId("image-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    byId("image-cancel").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("close", () => {
      if (this.dialog.returnValue) this.#write(this.dialog.returnValue);
      this.#waiting.shift();
      this.#askNext();
    });
  }

  #bindSources() {
    const input = byId("image-input");
    byId("image-choose").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.#take(input.files);
      input.value = "";
    });
    this.text.addEventListener("paste", (event) => {
      // A spreadsheet's cells come as text and as a picture of them: the text is what is meant.
      if (event.clipboardData.files.length && !event.clipboardData.types.includes("text/plain")) {
        event.preventDefault();
        this.#take(event.clipboardData.files);
      }
    });
    this.text.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
    this.text.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      this.#take(event.dataTransfer.files);
    });
  }

  /** @param {FileList} files */
  #take(files) {
    const isAsking = this.#waiting.length > 0;
    this.#waiting.push(...files);
    if (!isAsking) this.#askNext();
  }

  #askNext() {
    this.#opened += 1;
    const [file] = this.#waiting;
    if (!file) return this.text.focus();
    this.#cursor = [this.text.selectionStart, this.text.selectionEnd];
    byId("image-file").textContent = file.name;
    this.words.value = "";
    this.#say("");
    this.#wait(false);
    this.dialog.returnValue = "";
    this.dialog.showModal();
    this.words.focus();
  }

  async #send() {
    const words = this.words.value.trim();
    if (!words) {
      this.words.focus();
      return this.#say(say("image_words"));
    }
    const opened = this.#opened;
    const body = new FormData();
    body.append("file", this.#waiting[0]);
    this.#wait(true);
    this.#say("");
    const { outcome, data, message } = await this.request("POST", this.url, body);
    if (opened !== this.#opened) return;
    this.#wait(false);
    if (outcome !== "ok") return this.#say(message || say(outcome === "logged-out" ? "image_logged_out" : "image_away"));
    this.dialog.close(`![${inBrackets(words)}](image:${data.name})`);
  }

  /**
   * At the cursor, as if typed: it can be undone. In front of a line it is a paragraph of its own, since what begins the
   * line, a heading say, would be none behind it.
   * @param {string} markdown
   */
  #write(markdown) {
    const [start, end] = this.#cursor;
    const { value } = this.text;
    const isInFront = (start === 0 || value[start - 1] === "\n") && end < value.length && value[end] !== "\n";
    this.text.focus();
    // The dialog took the cursor.
    this.text.setSelectionRange(start, end);
    document.execCommand("insertText", false, isInFront ? `${markdown}\n\n` : markdown);
  }

  /** @param {boolean} isSending */
  #wait(isSending) {
    this.words.readOnly = isSending;
    this.insert.disabled = isSending;
    this.insert.textContent = say(isSending ? "image_sending" : "image_insert");
  }

  /** @param {string} text */
  #say(text) {
    byId("image-error").textContent = text;
    this.words.setAttribute("aria-invalid", String(Boolean(text)));
  }
}

/** @param {string} words */
const inBrackets = (words) => words.replace(/\s+/g, " ").replace(/[\\[\]`*_<!&]/g, "\\$&");
