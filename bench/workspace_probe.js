/**
 * Runs in the page before its own scripts, and notes when keys are pressed and when what they did is on the screen.
 * All times are milliseconds since the navigation began. Read by bench/workspace.py.
 */
(() => {
  const probe = { usable: null, choices: [], swaps: [], shown: [] };
  window.probe = probe;

  /** Resolves when there are more figures of a kind than that. */
  probe.exceeds = async (kind, count) => {
    while (probe[kind].length <= count) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  let pressedAt = null;

  /** After the next frame: a message that is sent while it is prepared arrives when style, layout and paint are done. */
  function whenPainted(then) {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => then(performance.now());
      channel.port2.postMessage(null);
    });
  }

  // Captured at the window, so that it comes before every handler of the page.
  addEventListener(
    "keydown",
    (event) => {
      pressedAt = event.timeStamp;
      if (event.key !== "Enter") whenPainted((now) => probe.choices.push(now - event.timeStamp));
    },
    { capture: true },
  );

  const mark = performance.mark.bind(performance);
  performance.mark = (name, options) => {
    if (name === "task-shown") {
      const since = pressedAt;
      if (since !== null) probe.shown.push(performance.now() - since);
      whenPainted((now) => (since === null ? (probe.usable = now) : probe.swaps.push(now - since)));
    }
    return mark(name, options);
  };
})();
