/**
 * A request to our API. It always resolves; `outcome` says what the reply means:
 *   ok · stale (412, both versions) · refused (the server will not take this, ever) ·
 *   ended (no account or no membership any more) · logged-out · away (no reply, or none from the application: try again later).
 *
 * @typedef {{outcome: "ok"|"stale"|"refused"|"ended"|"logged-out"|"away", status: number, data: any, code: string, message: string}} Reply
 */

// Codes of the server's that logging in again, or waiting, won't change.
const ENDED = new Set(["account_deactivated", "not_a_member"]);
const PATIENCE_MS = 20_000;
const UPLOAD_PATIENCE_MS = 120_000;
// Browsers let a request outlive its page ("keepalive") only up to 64 kB for all of them together.
const KEEPALIVE_MAX = 8_000;

/** Read at each request: logging in again changes the token. @param {string} name */
function cookie(name) {
  const found = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}

/** Its body is sent as JSON, or as a form where it is one. @param {{csrf_cookie: string, user_id: number}} data */
export function createRequest(data) {
  /** @returns {Promise<Reply>} */
  return async function request(method, url, body, headers = {}) {
    const isForm = body instanceof FormData;
    const text = body === undefined || isForm ? undefined : JSON.stringify(body);
    const sent = { Accept: "application/json", "X-Expected-User": String(data.user_id), ...headers };
    if (text !== undefined) sent["Content-Type"] = "application/json";
    if (body !== undefined) sent["X-CSRFToken"] = cookie(data.csrf_cookie);
    try {
      const response = await fetch(url, {
        method,
        headers: sent,
        body: isForm ? body : text,
        credentials: "same-origin",
        // A redirect is a log-in page of a proxy, not an answer of ours.
        redirect: "manual",
        keepalive: text !== undefined && text.length < KEEPALIVE_MAX,
        signal: AbortSignal.timeout(isForm ? UPLOAD_PATIENCE_MS : PATIENCE_MS),
      });
      return read(response, await json(response));
    } catch {
      return { outcome: "away", status: 0, data: null, code: "", message: "" };
    }
  };
}

/** @param {Response} response */
async function json(response) {
  const type = response.headers.get("Content-Type") ?? "";
  return type.includes("json") ? await response.json() : null;
}

/** @param {Response} response @returns {Reply} */
function read(response, data) {
  const { code = "", message = "" } = data?.error ?? {};
  return { outcome: outcome(response, data, code), status: response.status, data, code, message };
}

function outcome(response, data, code) {
  const { status } = response;
  if (ENDED.has(code)) return "ended";
  if (response.type === "opaqueredirect" || status === 401 || code === "csrf") return "logged-out";
  if (data === null || status >= 500 || status === 408 || status === 429) return "away";
  if (response.ok) return "ok";
  // A pause ends: what was chosen is kept and sent then.
  if (code === "batch_paused") return "away";
  return status === 412 ? "stale" : "refused";
}
