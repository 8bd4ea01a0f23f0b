"""A server on loopback that speaks the OpenAI protocol, for tests, benchmarks and the demo.

In tests the fixture `openai_server` is one. As a program:

    python -m tests.openai_server --port 8001 --latency 0.2

Without a script it answers by rules of its own: a chat request with a JSON schema gets an object that keeps to it,
where scores follow from how many of the claim's words the contexts have, and the same question always gets the same
answer; embeddings are hashed bags of words.
"""

from tests.openai_server.messages import Reply, Request, chat, embeddings, error
from tests.openai_server.server import OpenAIServer

__all__ = ["OpenAIServer", "Reply", "Request", "chat", "embeddings", "error"]
