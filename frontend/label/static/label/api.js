/** The requests of the workspace. Each resolves to a Reply. */

import { createRequest } from "../base/request.js";

/** What a label says, of several. @param {import("./outbox.js").LabelEntry} entry */
function changeOf({ unit, criterion, head }) {
  const { sent: _sent, base, ...said } = head;
  return { unit, criterion, revision: base, ...said };
}

/** @param {{api: {work: string, task: string, threads: string, guidelines_seen: string, me: string}, guideline_version: number|null, batch: number|null, csrf_cookie: string, user_id: number}} data */
export function createApi(data) {
  const request = createRequest(data);
  return {
    /** @param {number[]} exclude ids of tasks held here */
    work(exclude) {
      return request("POST", data.api.work, data.batch === null ? { exclude } : { batch: data.batch, exclude });
    },
    /** @param {number} id */
    task: (id) => request("GET", `${data.api.task}${id}/`),
    /** @param {import("./outbox.js").LabelEntry} entry */
    putLabel(entry) {
      const { key, base, ...said } = entry.head;
      const body = { unit: entry.unit, criterion: entry.criterion, ...said };
      delete body.sent;
      return request("PUT", `${data.api.task}${entry.task}/labels/`, body, { "If-Match": `"${base}"`, "Idempotency-Key": key });
    },
    /** All of them or none. @param {import("./outbox.js").LabelEntry[]} entries of one task */
    postLabels: (entries) => request("POST", `${data.api.task}${entries[0].task}/labels/`, { labels: entries.map(changeOf) }),
    /** @param {import("./outbox.js").FinishEntry} entry @param {number[]} exclude @param {import("./outbox.js").LabelEntry[]} labels */
    finish(entry, exclude, labels) {
      const body = { active_seconds: entry.active_seconds, exclude };
      if (labels.length) body.labels = labels.map(changeOf);
      if (entry.action === "skip") body.reason = entry.reason;
      return request("POST", `${data.api.task}${entry.task}/${entry.action}/`, body);
    },
    /** Takes a submission back. @param {number} id */
    reopen: (id) => request("POST", `${data.api.task}${id}/reopen/`, {}),
    /** @param {number} id @param {string} reason */
    flag: (id, reason) => request("POST", `${data.api.task}${id}/flag/`, { reason }),
    /** @param {number} id of the task @param {{unit?: string, criterion?: string, text: string}} question @param {string} key */
    ask: (id, question, key) => request("POST", `${data.api.task}${id}/threads/`, question, { "Idempotency-Key": key }),
    /** @param {number} thread @param {string} text @param {string} key */
    reply: (thread, text, key) => request("POST", `${data.api.threads}${thread}/messages/`, { text }, { "Idempotency-Key": key }),
    /** @param {number} thread @param {number} number of the last message seen */
    readThread: (thread, number) => request("POST", `${data.api.threads}${thread}/read/`, { number }),
    /** @param {number} thread @param {"close"|"reopen"} what */
    turnThread: (thread, what) => request("POST", `${data.api.threads}${thread}/${what}/`, {}),
    /** "I am still at it." @param {number} id */
    heartbeat: (id) => request("POST", `${data.api.task}${id}/heartbeat/`, {}),
    /** What changed in the guidelines of this page was read. */
    guidelinesSeen: () => request("POST", data.api.guidelines_seen, { version: data.guideline_version }),
    /** @param {object} preferences those that change */
    prefer: (preferences) => request("PATCH", data.api.me, { preferences }),
  };
}
