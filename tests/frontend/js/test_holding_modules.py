"""What the workspace holds for a person: the comment being typed, tasks on lease, the last submission."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

COMMENT = """async () => {
  document.documentElement.lang = "en";
  document.body.innerHTML = `<textarea id="comment" data-most="40"></textarea><button>Elsewhere</button>
    <p id="announce"></p><template id="texts"><i data-text="too_long">{n} too many, {most} at most</i></template>`;
  const { TypedField } = await import("/label/typed-field.js");
  const { TooLong } = await import("/label/too-long.js");
  const tooLong = new TooLong();
  const field = document.getElementById("comment");
  const saved = [];
  let inHand = { task: 1, step: { key: "claim:0|support" } };
  const save = (step, text) => saved.push([inHand.task, step.key, text]);
  const comment = new TypedField(field, { part: "comment", tooLong, inHand: () => inHand, save });
  const type = (text) => {
    field.value += text;
    field.dispatchEvent(new Event("input"));
  };
  %s
}"""


def test_a_comment_belongs_to_the_unit_it_was_begun_for(modules: Page) -> None:
    found = modules.evaluate(
        COMMENT
        % """
        type("It opens");
        comment.draw("claim:0|support", "");  // a redraw, for whatever reason
        inHand = { task: 1, step: { key: "claim:1|support" } };
        type(" at nine");
        const typed = [comment.isTypedFor("claim:0|support"), comment.isTypedFor("claim:1|support")];
        comment.save();
        comment.draw("claim:1|support", "what stands there");
        return { typed, saved, shown: field.value };
        """
    )
    assert found == {
        "typed": [True, False],
        "saved": [[1, "claim:0|support", "It opens at nine"]],
        "shown": "what stands there",
    }


def test_a_comment_is_saved_after_a_pause_and_on_leaving(stopped: Page) -> None:
    stopped.evaluate(COMMENT % 'window.saved = saved; field.focus(); type("a");')
    stopped.clock.run_for(600)
    assert stopped.evaluate("saved") == []
    stopped.clock.run_for(200)
    assert stopped.evaluate("saved") == [[1, "claim:0|support", "a"]]
    stopped.keyboard.type("b")
    stopped.keyboard.press("Tab")
    assert stopped.evaluate("saved.at(-1)") == [1, "claim:0|support", "ab"]


def test_what_is_too_long_is_kept_whole_and_neither_cut_nor_saved(modules: Page) -> None:
    found = modules.evaluate(
        COMMENT
        % """
        const note = () => field.nextElementSibling;
        const emoji = "\U0001f600".repeat(40);
        type(emoji);
        const fits = note().hidden;
        type("abc");
        const said = [note().textContent, field.ariaInvalid];
        comment.save();
        const kept = [tooLong.has(1, "claim:0|support"), tooLong.any];
        comment.draw("claim:1|support", "another");
        const elsewhere = [field.value, note().hidden];
        comment.draw("claim:0|support", "what the server has");
        const back = field.value === emoji + "abc";
        field.value = "short";
        field.dispatchEvent(new Event("input"));
        comment.save();
        return { fits, said, kept, elsewhere, back, saved, left: tooLong.any, hidden: note().hidden };
        """
    )
    assert found == {
        "fits": True,
        "said": ["3 too many, 40 at most", "true"],
        "kept": [True, True],
        "elsewhere": ["another", True],
        "back": True,
        "saved": [[1, "claim:0|support", "short"]],
        "left": False,
        "hidden": True,
    }


def test_a_comment_on_a_task_that_is_gone_is_handed_back_and_lands_nowhere(modules: Page) -> None:
    found = modules.evaluate(
        COMMENT
        % """
        type(" I was writing ");
        const words = comment.giveUp();
        inHand = { task: 2, step: { key: "claim:0|support" } };
        comment.save();
        comment.draw("claim:0|support", "");
        return { words, again: comment.giveUp(), saved, shown: field.value };
        """
    )
    assert found == {"words": "I was writing", "again": "", "saved": [], "shown": ""}


def test_both_tasks_that_are_held_are_kept(stopped: Page) -> None:
    stopped.evaluate(
        """async () => {
          const { startHeartbeat } = await import("/label/presence.js");
          window.sent = [];
          window.lost = [];
          window.there = true;
          const replies = {
            2: { outcome: "refused", status: 409, message: "Handed on." },
            4: { outcome: "refused", status: 422 },
          };
          startHeartbeat({
            tasks: () => [1, 2, 3, 4].map((id) => ({ id, leased: id !== 3 })),
            active: () => window.there,
            send: async (id) => (sent.push(id), replies[id] ?? { outcome: "ok" }),
            lost: (id, message) => lost.push([id, message]),
          });
        }"""
    )
    stopped.clock.run_for(61_000)
    assert stopped.evaluate("sent") == [1, 2, 4]
    assert stopped.evaluate("lost") == [[2, "Handed on."]]
    stopped.evaluate("window.there = false")
    stopped.clock.run_for(61_000)
    assert stopped.evaluate("sent.length") == 3, "no user is there"


def test_two_quick_presses_take_back_once(modules: Page) -> None:
    found = modules.evaluate(
        """async () => {
          const { Finishes } = await import("/label/take-back.js");
          const asked = [];
          const shown = [];
          const outbox = { withdraw: () => false, finishing: [], state: "saved" };
          const reopen = async (id) => {
            asked.push(id);
            await new Promise((resolve) => setTimeout(resolve));
            return { outcome: "ok", data: { task: { id } } };
          };
          const other = (name) => () => shown.push(name);
          const on = { shown: ({ id }) => shown.push(id), nothing: other("nothing"), refused: other("refused") };
          const finishes = new Finishes({ outbox, reopen, on });
          for (const id of [1, 2]) finishes.add({ task: { id }, action: "submit" });
          await Promise.all([finishes.takeBack(), finishes.takeBack()]);
          const quick = { asked: [...asked], shown: [...shown] };
          await finishes.takeBack();
          return { quick, asked, shown };
        }"""
    )
    assert found == {"quick": {"asked": [2], "shown": [2]}, "asked": [2, 1], "shown": [2, 1]}


WHOLE = {
    "kind": "label", "at": 2, "task": 1, "unit": "claim:0", "criterion": "support", "title": "Claim 1", "tail": None,
    "head": {"key": "k", "base": 0, "sent": False, "value": "yes", "cant_tell": "", "comment": "", "evidence": []},
}  # fmt: skip

OUTBOX = """async ({ stored }) => {
  for (const [name, text] of Object.entries(stored)) localStorage.setItem(name, text);
  const { Outbox } = await import("/label/outbox.js");
  const sent = [];
  const later = () => new Promise((resolve) => setTimeout(resolve));
  const away = { outcome: "away", status: 0, data: null };
  const api = { putLabel: async (entry) => (sent.push(entry.head.value), away), finish: async () => away };
  const nothing = () => {};
  const on = { changed: nothing, saved: nothing, conflict: nothing, finished: nothing, refused: nothing };
  const make = () => new Outbox({ userId: 7, api, exclude: () => [], on });
  %s
}"""


BROKEN = [
    "",
    "{",
    "null",
    "7",
    '{"kind": "label"}',
    json.dumps({**WHOLE, "head": None}),
    # Of another task than its name says.
    json.dumps({**WHOLE, "task": 99}),
]


def test_entries_that_cannot_be_read_are_put_aside_and_the_others_are_sent(modules: Page) -> None:
    stored = {f"touchstone.outbox.7.label.{n}.claim:0.support": text for n, text in enumerate(BROKEN, 2)}
    stored["touchstone.outbox.7.label.1.claim:0.support"] = json.dumps(WHOLE)
    found = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        outbox.flush();
        await later();
        const aside = outbox.broken.map((name) => localStorage.getItem(name)).sort();
        return { sent, aside, again: make().broken.length, left: Object.keys(localStorage).length };
        """,
        {"stored": stored},
    )
    assert found == {"sent": ["yes"], "aside": sorted(BROKEN), "again": 0, "left": len(BROKEN) + 1}


def test_what_the_browser_refuses_to_keep_is_not_called_kept(modules: Page) -> None:
    found: dict[str, Any] = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        const setItem = Storage.prototype.setItem;
        Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
        const which = { task: 1, unit: "claim:0", criterion: "support", title: "Claim 1" };
        const said = (value) => ({ value, cant_tell: "", comment: "", evidence: [], active_seconds: 0, active_ms: 0 });
        const before = outbox.isKept;
        outbox.putLabel(which, said("yes"), 0);
        await later();
        const full = outbox.isKept;
        Storage.prototype.setItem = setItem;
        outbox.putLabel(which, said("no"), 0);
        return { before, full, after: outbox.isKept };
        """,
        {"stored": {}},
    )
    assert found == {"before": True, "full": False, "after": True}
