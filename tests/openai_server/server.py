"""The server: HTTP/1.1 with keep-alive on an event loop of its own, so that hundreds wait at no cost."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.openai_server.answers import MODELS, default_reply
from tests.openai_server.messages import Reply, Request, chat, error

# What a function that answers may return: text or a value for a chat completion; None for the server's own answer.
Answer = Reply | str | dict[str, Any] | list[Any] | None
Answers = Callable[[Request], Answer | Awaitable[Answer]]

HANDFUL = 64 * 1024
LARGEST_REQUEST = 64 * 1024 * 1024


class OpenAIServer:
    """On 127.0.0.1, on a thread of its own. `start()` and `stop()`, or `with OpenAIServer() as server`.

    url: the base URL. key: what Authorization must carry; None: anything goes. latency: seconds before every reply.
    requests: what came, in order. most_at_once: how many were being answered at the same time, at most.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, latency: float = 0.0, key: str | None = None) -> None:
        self.host, self.port = host, port
        self.latency, self.key = latency, key
        self.requests: list[Request] = []
        self.keeps_requests = True
        self.most_at_once = 0
        self._at_once = self._forgotten = 0
        self._script: deque[Answer] = deque()
        self._answers: Answers | None = None
        self._limit: tuple[int, float, str | None] | None = None
        self._let_in: deque[float] = deque()
        self._came = threading.Condition()
        self._open = asyncio.Event()
        self._open.set()
        self._connections: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None

    # What a test says

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    def script(self, *answers: Answer) -> None:
        """The next requests for a completion or embeddings get these, in order; those after them what they got."""
        self._script.extend(answers)

    def answers(self, function: Answers | None) -> None:
        """Each request that no script is for gets what the function returns. It runs on the server's event loop, so
        it must not block; it may be a coroutine function. None: the server's own answers again, and 404 for what the
        protocol doesn't have."""
        self._answers = function

    def limit(self, requests: int, seconds: float, retry_after: str | None = None) -> None:
        """429 for more than so many requests within so many seconds."""
        self._limit = (requests, seconds, retry_after)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Requests that come meanwhile are answered only afterwards."""
        self._call(self._open.clear)
        try:
            yield
        finally:
            self._call(self._open.set)

    def wait_for(self, count: int, seconds: float = 180.0) -> None:
        """Until so many requests have come since the start or the last `forget`; of a worker that may still start."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.requests) >= count, seconds), (
                f"{len(self.requests)} of {count} requests came within {seconds} s"
            )

    def forget(self) -> None:
        """As if nothing had come yet, without script, limit and key."""
        self._script.clear()
        self._let_in.clear()
        self._answers = self._limit = self.key = None
        self.latency, self.most_at_once = 0.0, 0
        # Replies to earlier requests may still be on their way.
        self._forgotten, self._at_once = self._forgotten + 1, 0
        self.requests.clear()

    # Its life

    def start(self) -> OpenAIServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(ready.set)), daemon=True)
        self._thread.start()
        assert ready.wait(10), "the server did not start"
        return self

    def stop(self) -> None:
        """Closes every connection. Nothing is left behind."""
        if self._thread is not None:
            self._call(self._ended.set)
            self._thread.join(10)
            self._thread = None

    def __enter__(self) -> OpenAIServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _call(self, function: Callable[[], object]) -> None:
        """On the event loop; returns when it is done."""
        done = threading.Event()

        def call() -> None:
            function()
            done.set()

        self._loop.call_soon_threadsafe(call)
        assert done.wait(10), "the server does not answer"

    async def serve(self, is_ready: Callable[[], object]) -> None:
        """Until `stop`, or until it is cancelled. Calls `is_ready` when it listens and `url` is known."""
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, self.host, self.port, limit=HANDFUL, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        is_ready()
        try:
            await self._ended.wait()
        finally:
            server.close()
            for task in list(self._connections):
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    # One connection

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._one_request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.transport.abort() if task.cancelling() else writer.close()

    async def _one_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether another may follow on the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        length = int(headers.get("content-length", 0))
        if length > LARGEST_REQUEST:
            return False
        body = await reader.readexactly(length) if length else b""
        request = Request(method, path, headers, body, time.monotonic(), writer.get_extra_info("peername"))
        forgotten = self._forgotten
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._answer(request, reader, writer)
        finally:
            if self._forgotten == forgotten:
                self._at_once -= 1

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if self.keeps_requests:
            with self._came:
                self.requests.append(request)
                self._came.notify_all()
        await self._open.wait()
        reply = await self._reply_to(request)
        delay = self.latency if reply.delay is None else reply.delay
        if delay:
            await asyncio.sleep(delay)
        if reply.hangs:
            await reader.read(1)  # until the other side has had enough
        if reply.hangs or reply.hangs_up:
            return False
        head, content = reply.encoded()
        writer.write(head + (b"" if reply.drip else content[: reply.cut]))
        for byte in content if reply.drip else b"":
            await asyncio.sleep(reply.drip)
            writer.write(bytes([byte]))
            await writer.drain()
        await writer.drain()
        return reply.cut is None and request.headers.get("connection", "").lower() != "close"

    async def _reply_to(self, request: Request) -> Reply:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return error(401, "Incorrect API key provided.")
        if request.path.endswith("/models") and request.method == "GET":
            return Reply({"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})
        is_of_protocol = request.method == "POST" and request.path.endswith(("/chat/completions", "/embeddings"))
        if not is_of_protocol and self._answers is None:
            return error(404, "Unknown request URL.")
        if self._is_over_limit(request.at):
            assert self._limit is not None
            return error(429, "Rate limit reached.", retry_after=self._limit[2])
        answer: Any = None
        if self._script:
            answer = self._script.popleft()
        elif self._answers is not None:
            answer = self._answers(request)
            if inspect.isawaitable(answer):
                answer = await answer
        if isinstance(answer, Reply):
            return answer
        if answer is not None:
            return chat(answer if isinstance(answer, str) else json.dumps(answer))
        if not isinstance(request.json, dict):
            return error(400, "We could not parse the JSON body of your request.")
        return default_reply(request)

    def _is_over_limit(self, now: float) -> bool:
        if self._limit is None:
            return False
        requests, seconds, _ = self._limit
        while self._let_in and self._let_in[0] <= now - seconds:
            self._let_in.popleft()
        if len(self._let_in) >= requests:
            return True
        self._let_in.append(now)
        return False
