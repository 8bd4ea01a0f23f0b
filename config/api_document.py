"""What the OpenAPI document says about the API as a whole, and under which subject it lists each operation.

Here, because routes of every floor are in it.
"""

from __future__ import annotations

import re
from typing import Any

DESCRIPTION = """\
People label RAG answers; automatic judges are compared with them.

### Who asks

Every operation needs an account, and shows and does what the account's role in the project allows.

- **Programs** send a token with every request: `Authorization: Token ts_…`. You make one on your account page; it is
  shown once, is valid for as long as you choose, and may do what its scopes name of what you may:

  | scope | a token with it may |
  |---|---|
  | `read` | GET whatever you may see |
  | `label` | do your own tasks: labels, skipped tasks, flags, questions; and set how you like to work |
  | `push` | import, run judges and systems, make batches, experiments and releases, ask gates; GET how they are |
  | `admin` | whatever you may |

  Each operation names the scopes that it takes; any one of them is enough.
- **Pages** use the session cookie of the browser. Whatever is not a GET then needs the CSRF token as well, in the
  header `X-CSRFToken`. Tokens themselves are made and deleted with a session only.

A project that you are not a member of is answered like one that does not exist: 404.

### Requests

JSON in UTF-8 of at most 3 MiB, with `Content-Length`; of a label at most 64 KiB, of preferences 16 KiB, of samples,
batches, known answers, scores to apply and the parts of an upload 16 MiB. More samples than that are uploaded in parts
(`uploads/`). Nested at most 20 levels deep, with at most a value for every 16 bytes of that, no key twice in an object,
and no number beyond 64 bits. Files come as multipart form data. A field or a query parameter that the operation doesn't
know is refused, so that a misspelled one never passes for one left out. Addresses end with a slash, except those of
files. Positions in texts count Unicode code points from 0. Times and dates are UTC.

### Errors

Every error reply is JSON of one shape:

    {"error": {"code": "wrong_state", "message": "Batch 3 is closed; only one that is draft can be opened."}}

`code` is for programs and stays the same; `message` is a sentence for people. Some carry more beside `error`: `missing`
(what a task still lacks), `labels`, `tasks` or `looks` (how many are in the way), `problems` (what is wrong with which
row), `current` and `yours` (both versions). Nothing of a refused request was stored.

| status | means |
|---|---|
| 400 | not JSON, cut off, a foreign `Host`, or a query parameter that is unknown or comes twice |
| 401 | no login, or a token that is not valid |
| 403 | your role does not allow it, or the token's scopes don't (`scope`), or the CSRF token is missing |
| 404 | not there, or not for you |
| 405 | the address knows no such method |
| 409 | the state of things does not allow it |
| 410 | an upload was given up, as nothing came for a day |
| 411 | `Content-Length` is missing |
| 412 | somebody changed it since you looked |
| 413 | too large |
| 414 | the address, with its query, is longer than 4,094 bytes |
| 422 | the input can't be taken as it is |
| 428 | `If-Match` is missing |
| 429 | too many wrong tokens came from this address; go on after `Retry-After` seconds. A valid token is always taken |
| 460 | the part of an upload is not what its checksum says; send it again |
| 503 | the worker or the database can't answer just now; send it again after `Retry-After` seconds |
| 507 | the server's disk is full |

An import that failed answers 422 with the whole import, its `errors` among it, beside `error`; samples that are pushed
answer with the `errors` alone.

### What takes longer

An import, a report, a run, and a release of many samples are answered 202 while they are under way. `Location` is then
the address of their job, and `Retry-After` says after how many seconds to ask there. All jobs have one shape: `status`
(`waiting` and `running` go on by themselves; `done`, `failed`, `cancelled` and `paused` don't), `progress` from 0 to 1,
`result` with the address of what came of it, `error` with a code and a sentence, and `errors` with the `row` and
`field` of a file. 201 means that it is done already. Asking for the same report or release again while it is on its way
is answered with the same job.

### Long lists

Samples, scores, questions, responses, disputes and reports come in pages: `?limit=` (100 when left out, at most 1000)
and `?offset=`. The reply is `{"count", "next", "previous", "results"}`, with the addresses of the neighbouring pages or
null. Other lists come whole, except that of the imports, which is the last hundred.

### Writing twice, and at the same time

- **`If-Match`** goes with a label and with a decision: the revision that you saw, such as `3`; `0` when there was none.
  When it is not the present one, nothing is stored and the reply is 412 with both versions.
- **`Idempotency-Key`** goes with a label: a UUID that you make up for each change. The same request with the same key
  gives the first reply again and changes nothing, so it can be repeated when an answer got lost. A key of another
  change is refused (422, `key_reused`). It may go with what starts a run, a check, a trial or proposals, too: the same
  one again is answered with the run that it started, as that is now.
- Submitting, skipping and deciding the same again, and importing the same file or pushing the same samples again,
  change nothing.
"""

# Subject -> what it is about, and the words of an address that name it; the last such word counts. In the order in
# which a project comes to life.
_SUBJECTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Projects": ("Name, guidelines and criteria of what people work on together.", ("projects",)),
    "Criteria": ("What is asked about a claim, a context, an answer.", ("criteria",)),
    "Members": ("Who belongs to a project, and in which role.", ("members", "invites")),
    "Imports": (
        "Files of samples, of labels made elsewhere, of judges' scores, and of questions.",
        ("imports", "uploads"),
    ),
    "Samples": ("Questions and answers with their contexts, as they were imported.", ("samples", "pipeline")),
    "Systems": (
        "Test sets with their questions, versions of the system, where these are asked, and what they said.",
        ("questions", "sets", "{slug}/versions", "responses", "target", "target-runs"),
    ),
    "Batches": ("Samples sent to annotators, from draft to closed.", ("batches",)),
    "Work": ("Your own tasks and labels: what the labelling page uses.", ("work", "tasks", "lessons")),
    "Flags": ("What people report about samples, for admins to resolve.", ("flags",)),
    "Disputes": ("What annotators disagree about, for reviewers to decide.", ("disputes",)),
    "Exports": ("Numbered releases of the ground truth, which never change.", ("releases", "release-jobs")),
    "Agreement and alignment": (
        "People among themselves, judges against people, and reports.",
        ("agreement", "alignment", "report", "reports", "report-jobs"),
    ),
    "Looks and certificates": (
        "The locked test half, and judges that may be relied on.",
        ("looks", "certificates", "gate", "apply"),
    ),
    "Judges": ("Automatic metrics, run here or with imported scores, and their versions.", ("judges", "judge")),
    "Runs": ("A judge over a set of samples: what it takes, how far it is, what came of it.", ("runs",)),
    "Endpoints": ("Servers that judges ask, or where a system is asked.", ("endpoints",)),
    "You": ("How you like to work.", ("me",)),
    "Tokens": ("Keys for programs that ask in your name.", ("tokens",)),
}
TAGS = [{"name": name, "description": about} for name, (about, _words) in _SUBJECTS.items()]
# Judges and criteria have versions of their own, and judges runs.
_WORD = re.compile(r"\{slug\}/versions|target-runs|release-jobs|report-jobs|\w+|\{\w+\}")
_SUBJECT_OF = {word: name for name, (_about, words) in _SUBJECTS.items() for word in words}


def list_by_subject(result: dict[str, Any], **about: Any) -> dict[str, Any]:
    """Hook of the generator: each operation under the subject that its address names."""
    for path, item in result["paths"].items():
        words = [word for word in _WORD.findall(path) if word in _SUBJECT_OF]
        for operation in item.values():
            operation["tags"] = [_SUBJECT_OF[words[-1]]]
    return result
