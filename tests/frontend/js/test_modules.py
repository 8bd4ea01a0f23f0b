"""The workspace's modules by themselves, in a real browser and without a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

SPANS = json.loads((ROOT / "tests" / "fixtures" / "spans.json").read_text())["places"]


@pytest.mark.parametrize("case", SPANS, ids=lambda case: case["name"])
def test_code_points_become_utf16(modules: Page, case: dict[str, Any]) -> None:
    found = modules.evaluate(
        """async ({ text, spans }) => {
          const { toUtf16 } = await import("/base/spans.js");
          return spans.map((span) => {
            const [start, end] = toUtf16(text, [span.start, span.end]);
            return { utf16: [start, end], quote: text.slice(start, end) };
          });
        }""",
        case,
    )
    assert found == [{"utf16": span["utf16"], "quote": span["quote"]} for span in case["spans"]]


def test_overlapping_claims_are_cut_and_nothing_is_lost(modules: Page) -> None:
    parts = modules.evaluate(
        """async () => (await import("/base/spans.js")).segments("a😀bcd", [
          { id: 0, start: 0, end: 4 }, { id: 1, start: 2, end: 3 }, { id: 2, start: 9, end: 9 }])"""
    )
    assert parts == [
        {"text": "a😀", "start": 0, "ids": [0], "begins": [0]},
        {"text": "b", "start": 3, "ids": [1, 0], "begins": [1]},
        {"text": "c", "start": 4, "ids": [0], "begins": []},
        {"text": "d", "start": 5, "ids": [], "begins": []},
    ]


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (["Yes", "No"], ["1", "2"]),
        (["0", "1", "2"], ["0", "1", "2"]),
        ([str(n) for n in range(11)], ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "-"]),
        ([str(n) for n in range(1, 11)], ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]),
        (list("abcdefghijkl"), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "", ""]),
    ],
)
def test_keys_of_options(modules: Page, labels: list[str], keys: list[str]) -> None:
    options = [{"value": label, "label": label} for label in labels]
    assert modules.evaluate("async (options) => (await import('/base/keys.js')).optionKeys(options)", options) == keys


OUTBOX = """async (replies) => {
  const { Outbox } = await import("/label/outbox.js");
  const sent = [];
  const wait = () => new Promise((resolve) => setTimeout(resolve));
  const api = {
    putLabel: async (entry) => (sent.push({ ...entry.head }), await wait(), replies.shift()),
    postLabels: async (entries) => (sent.push({ value: valuesOf(entries) }), await wait(), replies.shift()),
    finish: async ({ task }, _, with_it) => {
      sent.push({ finish: [task, ...valuesOf(with_it)] });
      await wait();
      return replies.shift();
    },
  };
  const nothing = () => {};
  const valuesOf = (entries) => entries.map(({ head }) => head.value);
  const refused = [];
  const on = { changed: nothing, saved: nothing, conflict: nothing, finished: nothing };
  on.refused = ({ kind }) => refused.push(kind);
  const make = () => new Outbox({ userId: 7, api, exclude: () => [], on });
  const choose = (outbox, values) => {
    values.forEach((value, n) => outbox.putLabel({ ...which, unit: `claim:${n}` }, said(value), 0));
  };
  const submit = (outbox) => outbox.putFinish({ task: 1, action: "submit", reason: "", active_seconds: 3, scope: "" });
  const told = () => sent.map((one) => one.finish ?? one.value);
  const which = { task: 1, unit: "claim:0", criterion: "support", title: "Claim 1" };
  const said = (value, evidence = []) => ({ value, comment: "", evidence, active_seconds: 0 });
  const stored = () => Object.keys(localStorage).length;
  %s
}"""


def away() -> dict[str, Any]:
    return {"outcome": "away", "status": 0, "data": None, "code": "", "message": ""}


def saved(revision: int) -> dict[str, Any]:
    return {"outcome": "ok", "status": 200, "data": {"revision": revision}, "code": "", "message": ""}


def together(*revisions: int) -> dict[str, Any]:
    labels = [{"revision": revision} for revision in revisions]
    return {"outcome": "ok", "status": 200, "data": {"labels": labels}, "code": "", "message": ""}


def refused() -> dict[str, Any]:
    return {"outcome": "refused", "status": 422, "data": {}, "code": "labels_refused", "message": ""}


def test_a_choice_is_kept_before_it_is_sent_and_resent_under_its_key(modules: Page) -> None:
    result = modules.evaluate(
        OUTBOX
        % """
        const before = make();
        before.putLabel(which, said("yes"), 0);
        const kept = stored();
        await wait(); await wait();
        const state = before.state;
        const after = make();  // as after a reload
        after.flush();
        await wait(); await wait();
        const keys = new Set(sent.map((change) => change.key)).size;
        return { kept, state, keys, sent: sent.length, end: after.state, left: stored() };
        """,
        [away(), saved(1)],
    )
    assert result == {"kept": 1, "state": "waiting", "keys": 1, "sent": 2, "end": "saved", "left": 0}


def test_a_later_choice_waits_for_the_answer_to_the_earlier_one(modules: Page) -> None:
    sent = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        for (const value of ["a", "b", "c"]) outbox.putLabel(which, said(value), 0);
        for (let i = 0; i < 6; i++) await wait();
        return sent.map(({ value, base }) => [value, base]);
        """,
        [saved(1), saved(2)],
    )
    assert sent == [["a", 0], ["c", 1]]


def test_what_was_chosen_meanwhile_travels_together_and_with_the_submission(modules: Page) -> None:
    found = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        choose(outbox, ["a", "b", "c"]);
        await wait();
        choose(outbox, ["a", "b", "c", "d", "e"]);  // the first three are under way, or through
        submit(outbox);
        for (let i = 0; i < 8; i++) await wait();
        return { sent: told(), state: outbox.state, left: stored() };
        """,
        [saved(1), together(1, 1), saved(0)],
    )
    assert found == {"sent": ["a", ["b", "c"], [1, "b", "c", "a", "d", "e"]], "state": "saved", "left": 0}


def test_what_was_refused_together_goes_alone_and_the_submission_after_it(modules: Page) -> None:
    found = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        choose(outbox, ["a", "b", "c"]);
        submit(outbox);
        for (let i = 0; i < 12; i++) await wait();
        return { sent: told(), refused, state: outbox.state, left: stored() };
        """,
        [saved(1), refused(), saved(1), refused(), saved(0)],
    )
    assert found == {"sent": ["a", [1, "b", "c"], "b", "c", [1]], "refused": ["label"], "state": "saved", "left": 0}


def test_what_got_no_answer_together_is_sent_again_under_its_keys(modules: Page) -> None:
    found = modules.evaluate(
        OUTBOX
        % """
        const keys = [];
        api.postLabels = async (entries) => {
          keys.push(entries.map(({ head }) => head.key).sort());
          await wait();
          return replies.shift();
        };
        const outbox = make();
        choose(outbox, ["a", "b", "c"]);
        for (let i = 0; i < 4; i++) await wait();
        const state = outbox.state;
        make().flush();  // as after a reload
        for (let i = 0; i < 4; i++) await wait();
        return { state, same: JSON.stringify(keys[0]) === JSON.stringify(keys[1]), times: keys.length, left: stored() };
        """,
        [saved(1), away(), together(1, 1)],
    )
    assert found == {"state": "waiting", "same": True, "times": 2, "left": 0}


def test_a_task_is_skipped_after_its_labels(modules: Page) -> None:
    sent = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        choose(outbox, ["a", "b"]);
        outbox.putFinish({ task: 1, action: "skip", reason: "r", active_seconds: 3, scope: "" });
        for (let i = 0; i < 8; i++) await wait();
        return told();
        """,
        [saved(1), saved(1), saved(0)],
    )
    assert sent == ["a", "b", [1]]


def test_a_task_is_finished_after_its_labels(modules: Page) -> None:
    sent = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        outbox.putLabel(which, said("a"), 0);
        outbox.putFinish({ task: 1, action: "submit", reason: "", active_seconds: 3, scope: "" });
        const first = sent.length;
        for (let i = 0; i < 6; i++) await wait();
        return { first, sent: told(), left: stored() };
        """,
        [saved(1), saved(0)],
    )
    assert sent == {"first": 1, "sent": ["a", [1]], "left": 0}


def stale(evidence: list[dict[str, Any]]) -> dict[str, Any]:
    current = {"value": "yes", "comment": "", "evidence": evidence, "revision": 4}
    return {"outcome": "stale", "status": 412, "data": {"current": current}, "code": "stale", "message": ""}


ONE, TWO = ({"context": 0, "start": n, "end": n + 1, "quote": "a"} for n in (3, 5))


@pytest.mark.parametrize(
    ("mine", "theirs", "state"),
    [([ONE], [ONE], "saved"), ([ONE, TWO], [TWO, ONE], "saved"), ([ONE], [], "conflict"), ([ONE], [TWO], "conflict")],
)
def test_two_tabs_disagree_also_when_only_their_evidence_differs(
    modules: Page, mine: list[dict[str, Any]], theirs: list[dict[str, Any]], state: str
) -> None:
    body = """
    const outbox = make();
    outbox.putLabel(which, said("yes", %s), 0);
    for (let i = 0; i < 4; i++) await wait();
    return outbox.state;
    """
    assert modules.evaluate(OUTBOX % (body % json.dumps(mine)), [stale(theirs)]) == state


def test_history_goes_back_and_forth_and_skips_what_changed_elsewhere(modules: Page) -> None:
    told = modules.evaluate(
        """async () => {
          const { History, saidOf } = await import("/label/history.js");
          const history = new History();
          const at = new Map();
          const now = (key) => saidOf(at.get(key));
          const say = (key, change) => {
            const before = now(key);
            at.set(key, { ...before, ...change });
            history.add({ key, before, after: now(key) });
          };
          const replay = (deed, side) => {
            if (deed) at.set(deed.key, deed[side]);
            return deed && [deed.key, deed[side].value, deed[side].comment];
          };
          say("a", { value: 1 });
          say("a", { value: 1 });  // nothing new
          say("b", { value: 2 });
          say("a", { comment: "c" });
          const undo = () => replay(history.undo(now), "before");
          const told = [undo(), replay(history.redo(now), "after"), undo()];
          at.set("b", { value: 9, cant_tell: "", comment: "", evidence: [] });  // another tab
          told.push(undo(), undo());
          say("b", { value: 3 });
          told.push(history.redo(now));
          return told;
        }"""
    )
    assert told == [["a", 1, ""], ["a", 1, "c"], ["a", 1, ""], ["a", None, ""], None, None]


def test_keys_of_ones_own(modules: Page) -> None:
    found = modules.evaluate(
        """async () => {
          const { actsByKey } = await import("/base/keys.js");
          const keys = { next_unit: ["n", "j"], undo: ["q"], another_page: ["a"] };
          return actsByKey(keys, { next_unit: "goes on", undo: "takes back", redo: "has no key" });
        }"""
    )
    assert found == {"n": "goes on", "j": "goes on", "q": "takes back"}


def test_what_was_never_sent_can_be_withdrawn(modules: Page) -> None:
    result = modules.evaluate(
        OUTBOX
        % """
        const outbox = make();
        outbox.putLabel(which, said("a"), 0);
        outbox.putFinish({ task: 1, action: "submit", reason: "", active_seconds: 3, scope: "" });
        const early = outbox.withdraw(1);
        for (let i = 0; i < 6; i++) await wait();
        outbox.putFinish({ task: 1, action: "submit", reason: "", active_seconds: 3, scope: "" });
        const late = outbox.withdraw(1);
        for (let i = 0; i < 6; i++) await wait();
        return { early, late, sent: told(), left: stored() };
        """,
        [saved(1), saved(0)],
    )
    assert result == {"early": True, "late": False, "sent": ["a", [1]], "left": 0}


def test_time_is_counted_for_the_step_in_hand(modules: Page) -> None:
    spent = modules.evaluate(
        """async () => {
          const { ActivityClock } = await import("/label/presence.js");
          const clock = new ActivityClock();
          const until = async (ms) => {
            const end = performance.now() + ms;
            while (performance.now() < end) await new Promise(requestAnimationFrame);
          };
          clock.restart(0, new Map([["b", 5000]]));
          clock.turnTo("a");
          await until(120);
          clock.turnTo("b");
          await until(60);
          return { a: clock.spentOn("a"), b: clock.spentOn("b"), none: clock.spentOn("c"), active: clock.active };
        }"""
    )
    assert 110 <= spent["a"] < 2000
    assert 5050 <= spent["b"] < 7000
    assert (spent["none"], spent["active"]) == (0, True)
