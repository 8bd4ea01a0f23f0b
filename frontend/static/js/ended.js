/**
 * Somebody's work here has ended while the page was open: their account was deactivated, or their membership is over.
 * Nothing is sent again by itself, and nothing that was chosen is thrown away.
 */

import { showStage } from "./render.js";

/** @param {string} message the server's */
export function showEnded(message) {
  document.getElementById("ended-text").textContent = message;
  showStage("ended");
}

/** Whether that is what the page shows. */
export const isEnded = () => document.documentElement.dataset.stage === "ended";
