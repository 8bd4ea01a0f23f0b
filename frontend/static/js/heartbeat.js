/** Tells the server that somebody is still at a task that others wait for, so that it isn't given away meanwhile. */

const EVERY_MS = 60_000;
// Somebody else's by now, or no longer open.
const LOST = new Set([404, 409]);

/**
 * @param {object} wiring
 * @param {() => import("./steps.js").Task|null} wiring.task  the task in hand
 * @param {() => boolean} wiring.active  whether somebody is there
 * @param {(id: number) => Promise<import("./api.js").Reply>} wiring.send
 * @param {(id: number, message: string) => void} wiring.lost  somebody else has the task now
 */
export function startHeartbeat({ task, active, send, lost }) {
  setInterval(async () => {
    const held = task();
    if (!held?.leased || !active()) return;
    const reply = await send(held.id);
    if (reply.outcome === "refused" && LOST.has(reply.status)) lost(held.id, reply.message);
  }, EVERY_MS);
}
