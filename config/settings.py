"""All settings. Every one that an operator may change is an environment variable, described in docs/settings.md."""

import os
import secrets
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config import api_document, embedded, env, logs, storage

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.folder("DATA_DIR", embedded.DEFAULT_DATA_DIR)

PRODUCTION = env.choice("TOUCHSTONE_ENV", "local", ("local", "production")) == "production"
DEBUG = env.flag("DEBUG", False)
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured(
        "The environment variable DEBUG is true, but TOUCHSTONE_ENV is production, where error pages would show "
        "settings and data to visitors. Unset DEBUG."
    )


# Who may talk to us


def _local_secret_key(path: Path) -> str:
    """This installation's own key, made on first use. Linking is atomic: of two first starts at once, one key wins."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(64))
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text().strip()


def _production_secret_key() -> str:
    key = env.required(
        "SECRET_KEY",
        because="production signs sessions with it",
        example="$(python -c 'import secrets; print(secrets.token_urlsafe(64))')",
    )
    sample_words = ("django-insecure", "changeme", "change-me", "change_me", "example", "your-secret", "secret-key")
    if len(key) < 50 or len(set(key)) < 10 or any(word in key.lower() for word in sample_words):
        raise ImproperlyConfigured(
            "The environment variable SECRET_KEY looks like a sample or is too short: it should be at least 50 random "
            "characters. Make one with: python -c 'import secrets; print(secrets.token_urlsafe(64))'"
        )
    return key


SECRET_KEY = (
    _production_secret_key() if PRODUCTION else env.text("SECRET_KEY") or _local_secret_key(DATA_DIR / "secret_key")
)

if PRODUCTION:
    env.required(
        "ALLOWED_HOSTS", because="production answers only to the names it is given", example="touchstone.example.org"
    )
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
if PRODUCTION and "*" in ALLOWED_HOSTS:
    raise ImproperlyConfigured(
        "The environment variable ALLOWED_HOSTS contains '*', but production should list the exact host names."
    )

# Origins with their scheme (https://touchstone.example.org) that may post forms although the Host header differs.
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS", [])

SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# `__Host-` makes browsers refuse such a cookie from a sibling domain or over http. It needs Secure, hence production.
SESSION_COOKIE_NAME = "__Host-touchstone-session" if PRODUCTION else "touchstone-session"
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
CSRF_COOKIE_NAME = "__Host-touchstone-csrf" if PRODUCTION else "touchstone-csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
BROWSER_COOKIE_NAME = "__Host-touchstone-browser" if PRODUCTION else "touchstone-browser"

# How many proxies stand before us and add to X-Forwarded-For: the address that the outermost of them saw is counted
# against the limits on wrong passwords. 0: the header is not read.
PROXY_COUNT = env.number("PROXY_COUNT", 0, low=0, high=10)

SECURE_SSL_REDIRECT = env.flag("SECURE_SSL_REDIRECT", PRODUCTION)
SECURE_HSTS_SECONDS = env.number("SECURE_HSTS_SECONDS", 365 * 24 * 3600 if PRODUCTION else 0, low=0, high=10**9)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("SECURE_HSTS_INCLUDE_SUBDOMAINS", False)
# Only behind a proxy that sets this header itself: otherwise a client could claim https.
if env.flag("TRUST_X_FORWARDED_PROTO", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Whether every sibling host serves https, and belongs in the browsers' preload list, is the operator's to know.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}


# The application

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "annotate",
    "judges",
    "systems",
    "frontend",
    "config",
]

MIDDLEWARE = [
    "config.health.Probes",
    "config.logs.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.csp.CSPMiddleware",
    "config.unstorable.NoNul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "config.bodies.BodyLimits",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "frontend.base.limits.LimitsShown",
]

# `/metrics` is there only for who knows this, and its middleware is the second: nothing logs it, or sends it to https.
METRICS_TOKEN = env.text("METRICS_TOKEN")
if METRICS_TOKEN:
    if len(METRICS_TOKEN) < 20:
        raise ImproperlyConfigured(
            "The environment variable METRICS_TOKEN is too short: it should be at least 20 random characters. Make one "
            "with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    MIDDLEWARE.insert(1, "config.metrics.Metrics")

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # Each room of the pages has its own.
        "DIRS": [BASE_DIR / "config" / "templates", *sorted((BASE_DIR / "frontend").glob("*/templates"))],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "frontend.account.notices.header",
            ],
            "builtins": ["frontend.base.spelling", "frontend.base.icons"],
        },
    },
]

AUTH_USER_MODEL = "annotate.User"
AUTHENTICATION_BACKENDS = ["annotate.backends.AccountBackend"]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "annotate.core.passwords.NoNameInPassword"}]


# Signing in by an OpenID Connect provider, once OIDC_ISSUER is set (docs/decisions/0063-sign-in.md)

OIDC_ISSUER = (
    env.url("OIDC_ISSUER", "", schemes=("https",) if PRODUCTION else ("https", "http"))
    if env.text("OIDC_ISSUER")
    else ""
)
OIDC_CLIENT_ID, OIDC_CLIENT_SECRET = env.text("OIDC_CLIENT_ID"), env.text("OIDC_CLIENT_SECRET")
if OIDC_ISSUER:
    env.required("OIDC_CLIENT_ID", because="the provider asks who sends people to it", example="touchstone")
    env.required("OIDC_CLIENT_SECRET", because="the provider asks for it before it says who somebody is", example="…")
OIDC_NAME = env.text("OIDC_NAME", "SSO")
OIDC_SCOPES = env.text("OIDC_SCOPES", "openid profile email")
OIDC_CREATE_ACCOUNTS = env.flag("OIDC_CREATE_ACCOUNTS", False)
OIDC_JOIN_BY_EMAIL = env.flag("OIDC_JOIN_BY_EMAIL", False)
OIDC_GROUPS_CLAIM = env.text("OIDC_GROUPS_CLAIM", "groups")
OIDC_ADMIN_GROUPS = env.names("OIDC_ADMIN_GROUPS", [])
OIDC_ROLES = env.roles_of_groups("OIDC_ROLES", ("annotator", "reviewer", "admin"))
PASSWORD_LOGIN = env.flag("PASSWORD_LOGIN", True)
# Whether admins need a second factor beside their password.
SECOND_FACTOR_FOR_ADMINS = env.flag("SECOND_FACTOR_FOR_ADMINS", False)
if not (PASSWORD_LOGIN or OIDC_ISSUER):
    raise ImproperlyConfigured(
        "The environment variable PASSWORD_LOGIN is false, but OIDC_ISSUER is not set: nobody could log in. Set "
        "OIDC_ISSUER, or unset PASSWORD_LOGIN."
    )


# Languages and time

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "frontend" / "locale"]
FORMAT_MODULE_PATH = ["frontend.formats"]
LANGUAGE_COOKIE_NAME = "touchstone-language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = PRODUCTION
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"


# PostgreSQL and Redis: those named, else the embedded ones (config/embedded)

if PRODUCTION:
    env.required(
        "DATABASE_URL",
        because="the embedded PostgreSQL is not for production",
        example="postgresql://user:password@db.example.org:5432/touchstone",
    )
    env.required(
        "REDIS_URL", because="the embedded Redis is not for production", example="redis://redis.example.org:6379/0"
    )


_POSTGRESQL = ("postgresql", "postgres")
_DIRECT = env.url("DATABASE_URL", embedded.database_url(DATA_DIR), schemes=_POSTGRESQL)
_POOLER = env.url("DATABASE_POOLER_URL", _DIRECT, schemes=_POSTGRESQL)
# Whether this process has a session for one transaction only. Web alone, which begins with that module: the locks by
# which the others say who works at a run or an import belong to a session, and would go to whoever has it next.
DATABASE_POOLED = _POOLER != _DIRECT and "config.wsgi" in sys.modules

# In seconds, but for the last: milliseconds.
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def _database() -> dict[str, Any]:
    name, url = ("DATABASE_POOLER_URL", _POOLER) if DATABASE_POOLED else ("DATABASE_URL", _DIRECT)
    try:
        database: dict[str, Any] = dict(
            dj_database_url.parse(
                url,
                engine="config.postgresql",
                conn_max_age=env.number("CONN_MAX_AGE", 600, low=0, high=86_400),
                conn_health_checks=True,
            )
        )
    except ValueError:
        raise ImproperlyConfigured(
            f"The environment variable {name} cannot be read. It should be "
            "postgresql://user:password@host:port/database, with special characters percent-encoded."
        ) from None
    # A server or a network that went away without a word must not hold up requests; what the URL says counts more.
    database["OPTIONS"] = {**_PATIENCE, **database.get("OPTIONS", {})}
    if env.flag("PREPARED_STATEMENTS", not DATABASE_POOLED):
        # A labelling request is a few statements, always the same ones: planning them costs more than running them.
        database["OPTIONS"] |= {"server_side_binding": True, "prepare_threshold": 5}
    return database


DATABASES = {"default": _database()}

REDIS_URL = env.url("REDIS_URL", embedded.redis_url(DATA_DIR), schemes=("redis", "rediss", "unix"))
CACHES = {
    "default": {
        "BACKEND": "config.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "touchstone",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 2},
    }
}
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"


# Celery: a lost message costs a delay, never work (the database is the queue of record), so tasks may run twice.


def _broker_url(redis_url: str) -> str:
    """Celery's spelling of the same address: its unix sockets have another scheme and another name for the number."""
    if not redis_url.startswith("unix://"):
        return redis_url
    return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)


CELERY_BROKER_URL = _broker_url(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# For as long as it takes: after Celery's 100 attempts a worker would end in the middle of runs, which need no Redis.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# An unacknowledged message comes back after this long: longer than any task takes, or it runs twice at once.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": env.number("CELERY_VISIBILITY_TIMEOUT", 900, low=10, high=86_400),
    "socket_connect_timeout": 2,
    "socket_timeout": 30,
}
CELERY_TASK_DEFAULT_QUEUE = "touchstone"
CELERY_ACCEPT_CONTENT = ["json"]  # a pickle from the broker would be code execution
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_POOL = "config.pool:TaskPool"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# How often every worker looks for runs of judges that no process is at.
RUNS_LOOK_SECONDS = 5.0
# And for projects that are to be deleted.
DELETIONS_LOOK_SECONDS = 5.0
# And for reports and releases of which the message was lost.
JOBS_LOOK_SECONDS = 60.0
# And for audit schedules whose date has come.
AUDITS_LOOK_SECONDS = 60.0
# And for what is no longer kept; how long that is (annotate.files.retention).
RETENTION_LOOK_SECONDS = 3600.0
KEEP_UPLOADS_DAYS = env.number("KEEP_UPLOADS_DAYS", 7, low=1, high=3650)
KEEP_ENDED_ACCESS_DAYS = env.number("KEEP_ENDED_ACCESS_DAYS", 30, low=0, high=3650)
# And for certificates that have ended, or hold again.
CERTIFICATES_LOOK_SECONDS = 300.0
# And how often for reports that are out of date; so long after the last change they are made anew, or never (0).
REPORTS_LOOK_SECONDS = 60.0
REPORTS_AFTER_MINUTES = env.number("REPORTS_AFTER_MINUTES", 5, low=0, high=10_080)


# Mail. Without EMAIL_URL it is printed instead of sent.

_EMAIL_BACKENDS = {
    "console": "django.core.mail.backends.console.EmailBackend",
    "file": "django.core.mail.backends.filebased.EmailBackend",
    "smtp": "django.core.mail.backends.smtp.EmailBackend",
    "smtp+tls": "django.core.mail.backends.smtp.EmailBackend",
    "smtp+ssl": "django.core.mail.backends.smtp.EmailBackend",
}


def _mail_server() -> SplitResult:
    """The parts of EMAIL_URL; its port is a number, and whatever is sent to goes to a host."""
    try:
        parts = urlsplit(env.url("EMAIL_URL", "console://", schemes=tuple(_EMAIL_BACKENDS)))
        _ = parts.port
    except ValueError:
        parts = None
    if parts is None or (parts.scheme.startswith("smtp") and not parts.hostname):
        raise ImproperlyConfigured(
            "The environment variable EMAIL_URL cannot be read. It should be smtp+tls://user:password@host:587, with "
            "special characters percent-encoded."
        )
    return parts


_mail = _mail_server()
EMAIL_BACKEND = _EMAIL_BACKENDS[_mail.scheme]
EMAIL_HOST = _mail.hostname or "localhost"
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.scheme == "smtp+tls", _mail.scheme == "smtp+ssl"
EMAIL_PORT = _mail.port or (587 if EMAIL_USE_TLS else 465 if EMAIL_USE_SSL else 25)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_mail.username or ""), unquote(_mail.password or "")
# A mail server that doesn't answer must not hold up a page.
EMAIL_TIMEOUT = 10
if _mail.scheme == "file":
    EMAIL_FILE_PATH = unquote(_mail.path)
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "touchstone@localhost")
# The base of the links in mails, which no request can tell.
if PRODUCTION and _mail.scheme != "console":
    env.required("PUBLIC_URL", because="mails need it for their links", example="https://touchstone.example.org")
# Where mail is sent, who has a confirmed address gets a link to choose a new password; so long each link works.
PASSWORD_RESET_BY_MAIL = PASSWORD_LOGIN and _mail.scheme != "console"
PASSWORD_RESET_TIMEOUT = 3600
PUBLIC_URL = env.url("PUBLIC_URL", f"http://localhost:{env.text('PORT', '8000')}", schemes=("https", "http")).rstrip(
    "/"
)


# The API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotate.api.auth.SessionAuthentication",
        "annotate.api.auth.TokenAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],  # no browsable API: it would be a second UI
    "DEFAULT_PARSER_CLASSES": ["annotate.api.bodies.StrictJSON"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotate.api.auth.Negotiation",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_SCHEMA_CLASS": "annotate.api.schema.Schema",
    "EXCEPTION_HANDLER": "annotate.api.base.exception_handler",
    "URL_FORMAT_OVERRIDE": None,  # `?format=` would be one more way to ask for what each route answers anyway
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNICODE_JSON": True,
}

KNOX_TOKEN_MODEL = "annotate.ApiToken"  # noqa: S105 (a model)
REST_KNOX = {
    "SECURE_HASH_ALGORITHM": "hashlib.sha512",
    "TOKEN_TTL": timedelta(days=env.number("TOKEN_DAYS", 90, low=1, high=3650)),
    "TOKEN_PREFIX": "ts_",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Touchstone",
    "DESCRIPTION": api_document.DESCRIPTION,
    "TAGS": api_document.TAGS,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api_document.list_by_subject",
    ],
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    # Two fields are called "method"; their choices need names of their own.
    "ENUM_NAME_OVERRIDES": {"SelectionMethod": ["all", "filter", "random", "list"]},
}


# Endpoints of judges: what they may reach within this machine or its network, and what encrypts their stored keys.

JUDGE_PRIVATE_HOSTS = env.names("JUDGE_PRIVATE_HOSTS", [] if PRODUCTION else ["localhost:8001", "127.0.0.1:8001"])
JUDGE_SECRET_KEYS = env.fernet_keys("JUDGE_SECRET_KEYS")
# Where judges may load models from; None: nowhere.
JUDGE_MODELS_DIR = env.optional_folder("JUDGE_MODELS_DIR")


# Files

STATIC_URL = "/static/"
STATIC_ROOT = env.folder("STATIC_ROOT", DATA_DIR / "static")
# Each room of the front end has its own scripts and style sheets.
STATICFILES_DIRS = sorted((BASE_DIR / "frontend").glob("*/static"))
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "config.icons.IconsFinder",
]
STORAGES = {
    "default": storage.default_storage(),
    "staticfiles": {"BACKEND": "config.staticfiles.BundledManifestStorage"},
}
MEDIA_ROOT = DATA_DIR / "media"
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "uploads"
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
for _folder in (MEDIA_ROOT, FILE_UPLOAD_TEMP_DIR):
    _folder.mkdir(parents=True, exist_ok=True)
    if _folder.stat().st_uid == os.geteuid():
        _folder.chmod(0o700)
# Of a form, without its files, which stream to disk. Each route bounds the whole body (annotate/core/bodies.py).
DATA_UPLOAD_MAX_MEMORY_SIZE = 3 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
DATA_UPLOAD_MAX_NUMBER_FILES = 5
IMPORT_MAX_FILE_BYTES = env.number("IMPORT_MAX_FILE_BYTES", 2 * 1024**3, low=1, high=2**40)
IMPORT_MAX_DECODED_BYTES = env.number("IMPORT_MAX_DECODED_BYTES", 2 * 1024**3, low=1, high=2**40)
# What a process that reads a file may take, beside its code; and for how long it may compute.
IMPORT_MEMORY_MIB = env.number("IMPORT_MEMORY_MIB", 384, low=64, high=1_000_000)
IMPORT_CPU_MINUTES = env.number("IMPORT_CPU_MINUTES", 60, low=1, high=10_000)
IMPORT_PROCESSES = env.number("IMPORT_PROCESSES", 2, low=1, high=64)
IMPORT_MAX_ROWS = env.number("IMPORT_MAX_ROWS", 2_000_000, low=1, high=10**9)


LOGGING = logs.configuration()
