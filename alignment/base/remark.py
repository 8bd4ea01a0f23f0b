"""What is to be said about a figure: a code and the parameters that go into its words, as plain JSON.

This package has no sentences. ``frontend`` has the words for every code, in each reader's language, and a test holds
the two together: so a code is written out where ``remark`` is called, and its parameters are named there.
"""

from collections.abc import Mapping
from typing import Any

#: {"code": str, …}: parameters are numbers, names, and other remarks.
Remark = Mapping[str, Any]


def remark(code: str, **parameters: Any) -> Remark:
    """A code with its parameters.

    >>> remark("few_items", n=30)
    {'code': 'few_items', 'n': 30}
    """
    return {"code": code, **parameters}


def rounded_share(share: float) -> float:
    """A share to a tenth of a percent, as words give it. The exact figure stands beside the remark.

    >>> rounded_share(0.04783)
    0.048
    """
    return round(100 * share, 1) / 100
