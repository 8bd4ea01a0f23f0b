/** The panels beside the work, guidelines and questions to reviewers: one at a time. Each stays open while one labels, until one closes it. */

import { byId, leave } from "../base/dom.js";

/** @type {SidePanel|null} */
let open = null;

export class SidePanel {
  /** What had the focus when it was opened. @type {Element|null} */ #before = null;

  /**
   * @param {{panel: string, button: string, close: string, focus(): HTMLElement, turned?(isOpen: boolean): void}} made
   *   ids of the panel, of the button that opens it and of the one in it that closes it; what gets the focus
   */
  constructor({ panel, button, close, focus, turned = () => {} }) {
    this.panel = byId(panel);
    this.button = byId(button);
    this.focus = focus;
    this.turned = turned;
    this.button.addEventListener("click", () => this.toggle());
    byId(close).addEventListener("click", () => this.toggle());
    this.panel.addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && this.toggle());
  }

  get isOpen() {
    return open === this;
  }

  /** Whether the focus is in it. */
  get isInHand() {
    return this.panel.contains(document.activeElement);
  }

  toggle() {
    if (this.isOpen) return this.#close();
    const before = document.activeElement;
    if (open) open.#close();
    open = this;
    this.#before = before;
    this.#turn();
    this.focus().focus({ preventScroll: true });
  }

  #close() {
    const hadFocus = this.isInHand;
    open = null;
    this.#turn();
    leave(this.panel);
    if (hadFocus && this.#before?.isConnected) this.#before.focus({ preventScroll: true });
  }

  #turn() {
    this.panel.hidden = !this.isOpen;
    this.button.setAttribute("aria-expanded", String(this.isOpen));
    this.turned(this.isOpen);
  }
}
