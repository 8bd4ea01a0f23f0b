/** A change is sent until the server has answered; what is made twice at one revision is made once. */

import { drawSaveState } from "./claims-view.js";

const RETRY_MS = 3_000;

/** Shows how it stands meanwhile. @param {() => Promise<import("../base/request.js").Reply>} ask @returns {Promise<import("../base/request.js").Reply>} */
export async function untilAnswered(ask) {
  for (;;) {
    drawSaveState("saving");
    const reply = await ask();
    if (reply.outcome !== "away" && reply.outcome !== "logged-out") {
      // What was refused is not saved, and the notice says so.
      drawSaveState(reply.outcome === "ok" ? "saved" : "");
      return reply;
    }
    drawSaveState(reply.outcome === "away" ? "waiting" : "logged_out");
    await later();
  }
}

/** A moment later, or as soon as somebody is back. */
function later() {
  return new Promise((resolve) => {
    setTimeout(resolve, RETRY_MS);
    window.addEventListener("online", resolve, { once: true });
    window.addEventListener("focus", resolve, { once: true });
  });
}
