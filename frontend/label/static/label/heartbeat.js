/** Tells the server that somebody is still at tasks that others wait for, so that they aren't given away meanwhile. */

const EVERY_MS = 60_000;
// Somebody else's by now, or no longer open.
const LOST = new Set([404, 409]);

/**
 * @param {object} wiring
 * @param {() => import("./steps.js").Task[]} wiring.tasks  what is held here: the task in hand and the one fetched ahead
 * @param {() => boolean} wiring.active  whether somebody is there
 * @param {(id: number) => Promise<import("../base/request.js").Reply>} wiring.send
 * @param {(id: number, message: string) => void} wiring.lost  somebody else has the task now
 */
export function startHeartbeat({ tasks, active, send, lost }) {
  const beat = async ({ id }) => {
    const reply = await send(id);
    if (reply.outcome === "refused" && LOST.has(reply.status)) lost(id, reply.message);
  };
  setInterval(() => {
    if (!active()) return;
    for (const task of tasks()) if (task.leased) void beat(task);
  }, EVERY_MS);
}
