"""The server as a program, for the demo and for benchmarks."""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Callable

from tests.openai_server.messages import Reply, Request, chat, error
from tests.openai_server.server import Answer, OpenAIServer

DESCRIPTION = "A server on loopback that speaks the OpenAI protocol: chat completions, embeddings, models."


def main() -> None:
    given = _arguments()
    server = OpenAIServer(host=given.host, port=given.port, latency=given.latency, key=given.key)
    server.keeps_requests = False
    shares = [(share, reply) for share, reply in [*given.fail, *_troubles(given)] if share]
    if shares:
        server.answers(_unsteady(shares, given.seed))
    try:
        asyncio.run(server.serve(lambda: print(server.url, flush=True)))
    except KeyboardInterrupt:
        pass


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.openai_server", description=DESCRIPTION)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="before every reply")
    parser.add_argument("--key", help="demand this key")
    fail_help = "answer a share of the requests with a status code: 429:0.1; may be given several times"
    parser.add_argument("--fail", type=_failure, action="append", default=[], metavar="STATUS:SHARE", help=fail_help)
    parser.add_argument("--malformed", type=float, default=0.0, metavar="SHARE", help="replies that nobody can parse")
    parser.add_argument("--refuse", type=float, default=0.0, metavar="SHARE", help="replies in which the model refuses")
    parser.add_argument("--truncate", type=float, default=0.0, metavar="SHARE", help="replies that are cut off")
    parser.add_argument("--hang-up", type=float, default=0.0, metavar="SHARE", help="connections closed without a word")
    parser.add_argument("--seed", type=int, default=0, help="of which requests these are")
    return parser.parse_args()


def _failure(text: str) -> tuple[float, Reply]:
    status, _, share = text.partition(":")
    return float(share or 1.0), error(int(status), retry_after=1 if int(status) in (429, 503) else None)


def _troubles(given: argparse.Namespace) -> list[tuple[float, Reply]]:
    return [
        (given.malformed, chat('{"label": "supp')),
        (given.refuse, chat(None, refusal="I can't help with that.")),
        (given.truncate, chat('{"reason": "The context says that', finish_reason="length")),
        (given.hang_up, Reply(hangs_up=True)),
    ]


def _unsteady(shares: list[tuple[float, Reply]], seed: int) -> Callable[[Request], Answer]:
    draws = random.Random(seed)

    def answer(request: Request) -> Answer:
        drawn = draws.random()
        for share, reply in shares:
            if drawn < share:
                return reply
            drawn -= share
        return None

    return answer


if __name__ == "__main__":
    main()
