/** The guidelines changed: since one's last task, as the page says when it comes; or since then, which is said here. */

import { announce } from "../base/announce.js";
import { byId } from "../base/dom.js";

/** Called once. @param {() => Promise<unknown>} seen  tells the server that they were read */
export function bindGuidelineNews(seen) {
  const news = byId("guidelines-news");
  if (!news.hidden) announce(byId("guidelines-news-title").textContent);
  byId("guidelines-news-close").addEventListener("click", (event) => {
    event.target.blur();
    news.hidden = true;
    void seen();
  });
  // The page comes again with the new text and what changed in it. What was chosen is kept.
  byId("guidelines-newer-show").addEventListener("click", () => location.reload());
}

/** With each task. @param {number|null} known  the version on this page @param {number|null} newest  what the server has */
export function noteGuidelines(known, newest) {
  const newer = byId("guidelines-newer");
  if (!newer.hidden || (newest ?? 0) <= (known ?? 0)) return;
  newer.hidden = false;
  announce(byId("guidelines-newer-title").textContent);
}
