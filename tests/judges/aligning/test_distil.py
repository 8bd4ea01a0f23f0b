"""Which of a model's rules are kept."""

from __future__ import annotations

import json

from judges.aligning.distil import Found, read_united
from judges.endpoints.calls import Answered


def test_a_rule_of_few_cases_beside_one_of_many_is_left_out() -> None:
    found = [Found(f"Rule {number}.", f"s{number}", "claim:0", f"g{number}") for number in range(1, 15)]
    sizes = (("Most.", 1, 11), ("A fifth.", 11, 13), ("Less.", 13, 14))
    rules = [{"rule": text, "from": list(range(low, high))} for text, low, high in sizes]
    read = read_united(Answered(text=json.dumps({"rules": rules})), found)
    assert [one.text for one in read] == ["Most.", "A fifth."]
    assert [one.sample for one in read[1].sources] == ["s11", "s12"]
    alone = [{"rule": "Alone.", "from": [1]}, {"rule": "As well.", "from": [2]}]
    assert len(read_united(Answered(text=json.dumps({"rules": alone})), found)) == 2
    assert read_united(Answered(text='{"rules": []}'), found) == []
