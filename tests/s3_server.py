"""A real S3 server on this machine, which checks who sends a request: the package moto."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
import httpx2
from botocore.config import Config

from tests.database import READY_SECONDS
from tests.processes import AppProcess, free_port

BUCKET = "touchstone-files"
PREFIX = "here"


@dataclass
class S3Server:
    """One bucket in it, empty, and a user who may do all."""

    process: AppProcess
    url: str
    key: str = ""
    secret: str = ""

    @property
    def client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=self.key or "first",
            aws_secret_access_key=self.secret or "first",
            config=Config(s3={"addressing_style": "path"}),
        )

    def environment(self, **more: str) -> dict[str, str]:
        """For a process of the application that keeps its files there."""
        named = {"BUCKET": BUCKET, "PREFIX": PREFIX, "ENDPOINT_URL": self.url, "ACCESS_KEY_ID": self.key}
        named |= {"SECRET_ACCESS_KEY": self.secret, "REGION": "us-east-1", **more}
        return {f"S3_{name}": value for name, value in named.items()}

    def stored(self) -> list[str]:
        return sorted(one["Key"] for one in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", ()))

    def unfinished(self) -> list[str]:
        return [one["Key"] for one in self.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", ())]

    def is_ready(self) -> bool:
        try:
            self.client.list_buckets()
            return True
        except botocore.exceptions.BotoCoreError:
            return False


def start(log: Path) -> S3Server:
    port = free_port()
    # What is larger than this it keeps in files.
    surroundings = {**os.environ, "MOTO_S3_DEFAULT_KEY_BUFFER_SIZE": "65536", "PYTHONWARNINGS": "ignore"}
    process = AppProcess(["moto.server", "--port", str(port)], surroundings, log)
    process.start()
    server = S3Server(process, f"http://127.0.0.1:{port}")
    deadline = time.monotonic() + READY_SECONDS
    while not server.is_ready():
        if not process.is_running() or time.monotonic() > deadline:
            process.fail("The S3 server did not get ready.")
        time.sleep(0.05)
    server.client.create_bucket(Bucket=BUCKET)
    _ask_for_keys(server)
    return server


def _ask_for_keys(server: S3Server) -> None:
    """From now on it checks who sends a request, as Amazon does."""
    iam = boto3.client(
        "iam",
        endpoint_url=server.url,
        region_name="us-east-1",
        aws_access_key_id="first",
        aws_secret_access_key="first",
    )
    iam.create_user(UserName="touchstone")
    may = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    iam.put_user_policy(UserName="touchstone", PolicyName="files", PolicyDocument=json.dumps(may))
    made = iam.create_access_key(UserName="touchstone")["AccessKey"]
    server.key, server.secret = made["AccessKeyId"], made["SecretAccessKey"]
    reply = httpx2.post(f"{server.url}/moto-api/reset-auth", content=b"0", headers={"Content-Type": "text/plain"})
    reply.raise_for_status()
