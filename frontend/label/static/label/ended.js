/**
 * Somebody's work here has ended while the page was open: their account was deactivated, or their membership is over.
 * Nothing is sent again by itself, and nothing that was chosen is thrown away.
 */

import { showStage } from "./render.js";

/** @param {string} message the server's */
export function showEnded(message) {
  document.getElementById("ended-text").textContent = message;
  if (isEnded()) return;
  showStage("ended");
  // What had the focus is out of sight; the button is the next stop from here.
  document.querySelector('[data-stage-box="ended"]').focus({ preventScroll: true });
}

/** Whether that is what the page shows. */
export const isEnded = () => document.documentElement.dataset.stage === "ended";
