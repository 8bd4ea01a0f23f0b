"""Bytes that no well-meant client sends: the protocol itself, hosts, origins, cookies, logins, bodies of forms.

Each has what may come back: statuses (0: the connection is closed without an answer), and a word of the reply.
"""

# The tables stay tables.
# fmt: off
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wire:
    name: str
    data: bytes
    status: tuple[int, ...]
    says: str = ""

    def __str__(self) -> str:
        return self.name


def get(first: str, *headers: str) -> bytes:
    """A GET with this as its first line or address, and these headers behind `Host`."""
    line = first if "HTTP/" in first else f"GET {first} HTTP/1.1"
    return "\r\n".join([line, "Host: <host>", "Connection: close", *headers, "", ""]).encode()


def post(path: str, body: bytes, *headers: str, method: str = "POST") -> bytes:
    """What it says of its length is right, unless a header says so already."""
    if not any(header.lower().startswith(("content-length", "transfer-encoding")) for header in headers):
        headers = (*headers, f"Content-Length: {len(body)}")
    return get(f"{method} {path} HTTP/1.1", *headers) + body


FORM = "Content-Type: application/x-www-form-urlencoded"
JSON = "Content-Type: application/json"
TOKEN = "Authorization: Token <alma-token>"
SESSION = "Cookie: <alma-session>"
CSRF = "X-CSRFToken: <alma-csrf>"
CHUNKED = "Transfer-Encoding: chunked"
ME = b'{"preferences": {"shown": "all"}}'


def patch(*headers: str, body: bytes = ME) -> bytes:
    return post("/api/me/", body, *headers, method="PATCH")


def login(body: bytes, *headers: str) -> bytes:
    return post("/login/", body, *(headers or (FORM,)), "Cookie: touchstone-csrf=<csrf>", "X-CSRFToken: <csrf>")


def password(user: str, secret: str) -> Wire:
    body = f"username={user}&password={secret}".encode()
    return Wire(f"the password of comparable tools {user}/{secret}", login(body), (200, 429), "password")


def multipart(body: bytes, boundary: str = "b") -> bytes:
    return login(body, f"Content-Type: multipart/form-data; boundary={boundary}")


def part(about: str, content: bytes) -> bytes:
    return f"--b\r\nContent-Disposition: form-data; {about}\r\n\r\n".encode() + content + b"\r\n"


LINES = [
    Wire("noise", b"\x00\x01\x02\xff\r\n\r\n", (0, 400)),
    Wire("a TLS hello on the plain port", b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + bytes(160), (0, 400)),
    Wire("HTTP/0.9", b"GET /\r\n", (0, 400)),
    Wire("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505)),
    Wire("HTTP/9.9", get("GET /login/ HTTP/9.9"), (400, 505)),
    Wire("version in small letters", b"GET /login/ http/1.1\r\nHost: <host>\r\n\r\n", (400,)),
    Wire("no version", b"GET /login/\r\nHost: <host>\r\n\r\n", (0, 400)),
    Wire("two blanks", b"GET  /login/  HTTP/1.1\r\nHost: <host>\r\n\r\n", (400,)),
    Wire("nothing but an end of line", b"\r\n\r\n\r\n", (0, 400)),
    Wire("nothing", b"", (0,)),
    Wire("a method with an accent", get("GÉT /login/ HTTP/1.1"), (400,)),
    Wire("a method of 5,000 letters", get("A" * 5_000 + " /login/ HTTP/1.1"), (400, 405, 414)),
    Wire("a method in small letters", get("get /login/ HTTP/1.1"), (400, 405)),
    Wire("TRACE", get("TRACE /login/ HTTP/1.1", "Cookie: secret=1"), (405,)),
    Wire("CONNECT", get("CONNECT example.org:443 HTTP/1.1"), (400, 404, 405)),
    Wire("OPTIONS *", get("OPTIONS * HTTP/1.1"), (400, 404, 405)),
    Wire("PROPFIND", get("PROPFIND / HTTP/1.1", "Depth: infinity"), (403,)),
    Wire("a method that the API has no name for", get("BREW /api/me/ HTTP/1.1", TOKEN), (405,), "BREW"),
    Wire("an address without a slash", get("GET login HTTP/1.1"), (400, 404)),
    Wire("an address on another host", get("GET http://evil.example/login/ HTTP/1.1"), (200, 400)),
    Wire("a fragment", get("/login/#/../../etc/passwd"), (200, 400, 404)),
    Wire("5,000 letters of path", get("/p/" + "a" * 5_000 + "/"), (404, 414)),
    Wire("a path of 1,500 steps", get("/p" + "/.." * 1_300 + "/etc/passwd"), (404, 414)),
    Wire("steps out of the static files", get("/static/../config/settings.py"), (400, 404)),
    Wire("encoded steps out of the static files", get("/static/%2e%2e/%2e%2e/etc/passwd"), (400, 404)),
    Wire("the static files' folder without its slash", get("/static../config/settings.py"), (404,)),
    Wire("twice encoded steps", get("/static/%252e%252e%252fconfig%252fsettings.py"), (404,)),
    Wire("backslashes out of the static files", get("/static/..\\..\\etc\\passwd"), (404,)),
    Wire("overlong UTF-8 steps", get("/static/%c0%ae%c0%ae/etc/passwd"), (400, 404)),
    Wire("a zero byte in a static file's name", get("/static/base/logo.svg%00.css"), (400, 404)),
    Wire("a zero byte in an address", get("/p/demo%00/"), (404,)),
    Wire("raw bytes in an address", b"GET /p/\xff\xfe/ HTTP/1.1\r\nHost: <host>\r\nConnection: close\r\n\r\n",
        (302, 400, 404)),
    Wire("a blank's cousins in an address", get("/p/%E2%80%AE%E3%80%80demo/"), (302, 404)),
    Wire("two slashes", get("//evil.example/"), (404,)),
    Wire("two slashes, and none at the end", get("//evil.example/login"), (404,)),
    Wire("a line end in an address", get("/p/demo%0d%0aSet-Cookie:%20evil=1"), (404,)),
    Wire("a line end in an address that lacks a slash", get("/login%0d%0aSet-Cookie:%20evil=1"), (404,)),
    Wire("half an escape in a query", get("/login/?next=%zz%f&%=%"), (200,)),
    Wire("a login that leads elsewhere", get("/login/?next=//evil.example/"), (200,)),
    Wire("700 parameters", get("/api/me/?" + "&".join(f"a{n}" for n in range(700)), TOKEN), (400,), "a0"),
]

HEADERS = [
    Wire("no host", b"GET /login/ HTTP/1.1\r\nConnection: close\r\n\r\n", (200, 400)),
    Wire("an empty host", b"GET /login/ HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", (400,)),
    Wire("two hosts", get("/login/", "Host: evil.example"), (400,)),
    *(
        Wire(f"the host {host}", f"GET /login/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode(), (400,))
        for host in (
            "evil.example", "localhost.evil.example", "evil.example:80", "localhost@evil.example", "localhost:99999x",
                "[::1",
            "127.0.0.1#", "localhost\\evil", "0x7f000001", "locаlhost", "localhost, evil.example", "169.254.169.254",
        )
    ),
    Wire("a foreign host below the API", b"GET /api/me/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        (400,), "evil.example"),
    Wire("a foreign host beside a token", get("/api/me/", TOKEN).replace(b"<host>", b"evil.example"), (400,),
        "evil.example"),
    Wire("a host that a proxy would say",
        get("/login/", "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"), (200,)),
    Wire("a user that a proxy would say",
        get("/api/me/", "X-Remote-User: alma", "REMOTE_USER: alma", "Remote-User: alma"), (401,)),
    Wire("an address that a proxy would say", get("/api/me/", "X-Original-URL: /admin/", "X-Rewrite-URL: /admin/"),
        (401,)),
    Wire("a header that goes on", get("/login/", "X-A: a", " b"), (200, 400)),
    Wire("a header without a colon", get("/login/", "X-A"), (400,)),
    Wire("a blank before the colon", get("/login/", "X-A : a"), (400,)),
    Wire("a header without a name", get("/login/", ": a"), (400,)),
    Wire("a zero byte in a header", get("/login/", "X-A: a\0b"), (400,)),
    Wire("a zero byte in a header's name", get("/login/", "X\0A: a"), (400,)),
    Wire("a lone carriage return", get("/login/", "X-A: a\rX-B: b"), (400,)),
    Wire("lines that end with a line feed only", get("/login/").replace(b"\r\n", b"\n"), (0, 200, 400)),
    Wire("a request that stops in a header", get("/login/", "X-A: a")[:-6], (0, 400)),
    Wire("an encoding nobody has", get("/login/", "Accept-Encoding: zstd;q=9, gzip;q=-1, *;q=NaN"), (200,)),
    Wire("a language out of a folder", get("/login/", "Accept-Language: ../../../etc/passwd"), (200,)),
    Wire("two thousand languages", get("/login/", "Accept-Language: " + "xx," * 2_000), (200, 400)),
    Wire("an Accept that fits nothing", get("/api/me/", TOKEN, "Accept: image/png"), (200, 406)),
    Wire("an Accept of noise", get("/api/me/", TOKEN, "Accept: ;;;/,*/"), (200, 406)),
    Wire("a request id with markup", get("/login/", "X-Request-ID: <script>alert(1)</script>"), (200,)),
    Wire("a date of noise", get("/login/", "If-Modified-Since: yesterday", "If-None-Match: W/\"x\", *"), (200, 304)),
    Wire("a protocol of another kind", get("/login/", "Upgrade: h2c, websocket", "HTTP2-Settings: AAMAAABk"),
        (200, 400)),
    Wire("ranges that overlap a thousand times",
        get("/static/base/logo.svg", "Range: bytes=" + ",".join(["0-"] * 1_000)), (200, 206, 400, 404, 416)),
    Wire("a range backwards", get("/login/", "Range: bytes=9-1"), (200, 416)),
]

LENGTHS = [
    Wire("a length and chunks",
        patch(JSON, TOKEN, "Content-Length: 4", CHUNKED, body=b"0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"), (400, 411)),
    Wire("chunks and identity", patch(JSON, TOKEN, "Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n"),
        (400, 411)),
    Wire("chunks twice", patch(JSON, TOKEN, CHUNKED, CHUNKED, body=b"0\r\n\r\n"), (400, 411)),
    Wire("chunks behind a tab of old", patch(JSON, TOKEN, "Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n"), (400,)),
    Wire("a word like chunked", patch(JSON, TOKEN, "Transfer-Encoding: xchunked", body=b"0\r\n\r\n"), (400,)),
    Wire("a chunk below nothing", patch(JSON, TOKEN, CHUNKED, body=b"-1\r\n{}\r\n0\r\n\r\n"), (400, 411)),
    Wire("a chunk beyond 64 bits", patch(JSON, TOKEN, CHUNKED, body=b"f" * 40 + b"\r\n{}\r\n0\r\n\r\n"), (400, 411)),
    Wire("a chunk that never ends", patch(JSON, TOKEN, CHUNKED, body=b"5\r\n{}"), (400, 411)),
    Wire("a trailer that would log in", patch(JSON, CHUNKED, body=b"0\r\nAuthorization: Token <alma-token>\r\n\r\n"),
        (400, 401, 411)),
    Wire("chunks in HTTP/1.0", patch(JSON, TOKEN, CHUNKED, body=b"0\r\n\r\n").replace(b"HTTP/1.1", b"HTTP/1.0"),
        (400, 411)),
    Wire("two lengths", patch(JSON, TOKEN, "Content-Length: 2", "Content-Length: 30", body=b"{}" + b" " * 28), (400,)),
    Wire("a length with a plus", patch(JSON, TOKEN, "Content-Length: +2", body=b"{}"), (400,)),
    Wire("a length in hexadecimal", patch(JSON, TOKEN, "Content-Length: 0x2", body=b"{}"), (400,)),
    Wire("a length in Arabic digits", patch(JSON, TOKEN, "Content-Length: ٢", body=b"{}"), (400,)),
    Wire("a length beyond the body", patch(JSON, TOKEN, "Content-Length: 900", body=ME), (400,), "33 of the 900"),
    Wire("a file whose second half never came",
        post("/api/projects/demo/imports/", part('name="kind"', b"samples")
             + part('name="file"; filename="a.jsonl"', b'{"id": "cut", "question": "q", "answer": "x"}\n'),
             TOKEN, "Content-Type: multipart/form-data; boundary=b", "Content-Length: 9000"), (400,), "cut_off"),
    Wire("a length within the body", patch(JSON, TOKEN, "Content-Length: 5", body=b'{"preferences": {}}'), (400,)),
    Wire("a second request in the body",
        patch(JSON, TOKEN, "Content-Length: 1", body=b"{DELETE /api/projects/demo/views/1/ HTTP/1.1\r\n\r\n"), (400,)),
    Wire("a body that says that it is packed",
        patch(JSON, TOKEN, "Content-Encoding: gzip", body=b"\x1f\x8b\x08\0\0\0\0\0"), (415,), "Content-Encoding"),
    Wire("a body that waits for a word", patch(JSON, TOKEN, "Expect: 100-continue", "Content-Length: 33", body=b""),
        (0, 400)),
]

WHO = [
    *(Wire(f"the origin {origin}", patch(JSON, SESSION, CSRF, f"Origin: {origin}"), (403,), "rigin")
      for origin in ("https://evil.example", "null", "http://localhost.evil.example", "https://<host>", "file://",
          "http://<host>@evil.example")),
    Wire("the origin of another port", patch(JSON, SESSION, CSRF, "Origin: http://localhost:1"), (403,), "rigin"),
    Wire("a form from another origin", post("/logout/", b"", FORM, SESSION, CSRF, "Origin: https://evil.example"),
        (403,), "https://evil.example"),
    Wire("a session without a CSRF token", patch(JSON, SESSION), (403,), "CSRF"),
    Wire("a CSRF token of 10,000 letters", patch(JSON, SESSION, "X-CSRFToken: " + "a" * 5_000), (403,), "CSRF"),
    Wire("another's CSRF token", patch(JSON, SESSION, "X-CSRFToken: <csrf>"), (403,), "CSRF"),
    Wire("a CSRF token in the query",
        post("/api/me/?csrfmiddlewaretoken=<alma-csrf>", ME, JSON, SESSION, method="PATCH"), (400, 403)),
    Wire("JSON as text, as a foreign form sends it", patch("Content-Type: text/plain", SESSION, CSRF), (415,),
        "text/plain"),
    Wire("JSON as a form's only field", patch(FORM, SESSION, CSRF, body=ME + b"="), (415,), "form"),
    Wire("a preflight from elsewhere",
        get("OPTIONS /api/me/ HTTP/1.1", "Origin: https://evil.example", "Access-Control-Request-Method: PATCH"),
            (200, 401, 403)),
    *(Wire(f"the session {cookie[:30]!r}", get("/api/me/", f"Cookie: touchstone-session={cookie}"), (401,))
      for cookie in ("", "x", "' OR 1=1 --", "../../etc/passwd", "gASVAAAAAAAAAA==", "a" * 7_000, '"\\000\\000"',
          "\xff\xfe", "0")),
    Wire("a cookie without a name", get("/api/me/", "Cookie: =;;=;$Version=1;\t;touchstone-session"), (401,)),
    Wire("400 cookies", get("/api/me/", "Cookie: " + "; ".join(f"c{n}=x" for n in range(400))), (401,)),
    *(Wire(f"the token {token[:30]!r}", get("/api/me/", f"Authorization: {token}"), (401, 429))
      for token in (
          "Token argilla.apikey", "Bearer owner.apikey", "Token", "Token ", "Token  a b", "Token ' OR ''='",
              "Token " + "a" * 7_000,
          "Basic YWRtaW46YWRtaW4=", "Basic ÿ", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbG1hIn0.", "Negotiate x",
              "Token ts_\u00ad",
          "token\u00a0<alma-token>", "Digest username=alma",
      )),
    Wire("two tokens", get("/api/me/", "Authorization: Token x", TOKEN), (400, 401, 429)),
    Wire("a method in a header", post("/api/me/", b"{}", JSON, TOKEN, "X-HTTP-Method-Override: PATCH"), (405,), "POST"),
    Wire("a method in the query", get("/api/me/?_method=DELETE", TOKEN), (400,), "_method"),
    Wire("a method in a form", post("/api/me/", b"_method=PATCH", FORM, TOKEN), (405,), "POST"),
    Wire("an invitation nobody wrote", get("/invites/' OR 1=1/"), (400, 404)),
    Wire("a reset nobody asked for", get("/password/reset/MQ/set-password/"), (200, 404)),
    Wire("a provider that was never asked", get("/login/provider/back/?state=x&code=y"), (302, 400, 404)),
    Wire("Django's own admin", get("/admin/login/"), (404,)),
    Wire("metrics without their token", get("/metrics", "Authorization: Bearer x"), (401, 404)),
]

FORMS = [
    *(password(*pair.split("/")) for pair in (
        "admin/admin", "admin/password", "argilla/1234", "owner/12345678", "django/django", "airflow/airflow",
        "admin/label-studio", "minioadmin/minioadmin", "alma/alma", "alma/", "/",
    )),
    Wire("SQL for a name", login(b"username=alma'--&password=x"), (200, 429)),
    Wire("a list for a name", login(b"username[]=alma&username[$ne]=x&password[$gt]="), (200, 429)),
    Wire("a zero byte in a name", login(b"username=alma%00&password=alma-demo"), (200, 429), "ull"),
    Wire("half a surrogate in a name", login(b"username=%ed%a0%80&password=x"), (200, 429)),
    Wire("a name that looks like alma", login("username=аlma&password=alma-demo".encode()), (200, 429)),
    Wire("100,000 letters of a name", login(b"username=" + b"a" * 100_000 + b"&password=x"), (200, 413, 429)),
    Wire("a megabyte of password", login(b"username=alma&password=" + b"a" * 1_000_000), (200, 413, 429)),
    Wire("5,000 fields", login(b"&".join(b"a%d=" % n for n in range(5_000))), (200, 400)),
    Wire("JSON for a form", login(b'{"username": "alma", "password": "x"}', JSON), (403, 415, 200)),
    Wire("two lines in next", login(b"username=alma&password=x&next=%0d%0aSet-Cookie:a=b"), (200, 429)),
    Wire("parts without a boundary", login(b"--b\r\n\r\nx\r\n--b--", "Content-Type: multipart/form-data"), (400, 415)),
    Wire("a boundary of 1,000 letters", multipart(b"--" + b"x" * 1_000, "x" * 1_000), (400,)),
    Wire("a boundary of noise", multipart(b"--\xff", "\xff\0"), (400,)),
    Wire("parts that stop", multipart(b'--b\r\nContent-Disposition: form-data; name="username"\r\n\r\nal'),
        (200, 400, 429)),
    Wire("2,000 parts", multipart(b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n' * 2_000
        + b"--b--\r\n"), (200, 400)),
    Wire("a part in base64 that is none",
        multipart(part('name="username"\r\nContent-Transfer-Encoding: base64', b"!!!") + b"--b--\r\n"),
            (200, 400, 429)),
    Wire("a part in a language",
        multipart(b"--b\r\nContent-Disposition: form-data; name*=no-such'en'username\r\n\r\nalma\r\n--b--\r\n"),
            (200, 400, 429)),
    Wire("a file for a name", multipart(part('name="username"; filename="../../x"', b"alma") + b"--b--\r\n"),
        (200, 400, 429)),
    Wire("a language nobody speaks", post("/language/", b"language=../../x&next=//evil.example/", FORM, SESSION, CSRF),
        (302, 400)),
]

WIRES = [*LINES, *HEADERS, *LENGTHS, *WHO, *FORMS]
