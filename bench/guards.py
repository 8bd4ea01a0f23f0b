"""Takes out one guard after the other, in a copy of the repository: is it noticed?

    python -m bench.guards [--only WORD]

Each guard stands for a fault that comparable tools had (docs/reliability.md), and for a test that has to fail without
it. A text that is no longer there stops the benchmark: the guard went elsewhere, or went.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.stage import ROOT, figure, heading

_LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".data", "__pycache__", ".*_cache")
_TESTS_FAILED = 1  # pytest's; others say that it could not run


@dataclass(frozen=True)
class Guard:
    name: str
    file: str
    there: str
    instead: str
    test: str


GUARDS = [
    Guard(
        "unknown query parameters are refused", "annotate/api/base.py",
        "        if unknown:\n            known =", "        if False:\n            known =",
        "tests/annotate/api/test_requests.py::test_an_unknown_parameter_is_refused",
    ),
    Guard(
        "a sample of a SECRET_KEY", "config/settings.py",
        "if len(key) < 50 or len(set(key)) < 10 or any(", "if False and any(",
        "tests/config/test_settings.py::test_wrong_values_are_named",
    ),
    Guard(
        "addresses of the local network", "judges/endpoints/addresses.py",
        "if not is_allowed_private(host, port):", "if False:",
        "tests/judges/endpoints/test_addresses.py::test_every_address_at_every_sink",
    ),
    Guard(
        "names that answer otherwise the second time", "judges/endpoints/addresses.py",
        "        _check_address(address, host, port)\n", "        pass\n",
        "tests/judges/endpoints/test_addresses.py::test_a_name_that_answers_otherwise_the_second_time",
    ),
    Guard(
        "a key is sent to its own host only", "judges/endpoints/write.py",
        "if target.origin != old.origin:", "if False:",
        "tests/judges/endpoints/test_write.py::test_a_key_stays_with_its_host",
    ),
    Guard(
        "the role that an action takes", "annotate/core/permissions.py",
        "    if not may(role, action):\n        raise PermissionDenied",
        "    if False:\n        raise PermissionDenied",
        "tests/annotate/api/test_access.py::test_each_role_gets_what_the_table_says",
    ),
    Guard(
        "tokens end with the password", "annotate/models/project.py",
        "self.auth_token_set.exclude(pk__in=keep_tokens).delete()", "pass",
        "tests/frontend/account/test_passwords.py::test_sessions_and_tokens_end_with_the_password",
    ),
    Guard(
        "Markdown shows no HTML of its author", "frontend/base/help.py",
        '{"html": False}', '{"html": True}',
        "tests/frontend/base/test_help.py::test_nothing_harmful_comes_through",
    ),
    Guard(
        "the API answers in JSON only", "config/settings.py",
        '["rest_framework.renderers.JSONRenderer"]',
        '["rest_framework.renderers.JSONRenderer", "rest_framework.renderers.BrowsableAPIRenderer"]',
        "tests/annotate/api/test_requests.py::test_replies_are_json_whatever_is_asked_for",
    ),
    Guard(
        "formulas in cells", "annotate/files/cells.py",
        "return \"'\" + text if _FORMULA.match(text) else text", "return text",
        "tests/annotate/files/test_releases.py::test_csv_is_formula_safe_and_comes_back",
    ),
    Guard(
        "a text that has the code of its marks", "judges/kinds/llm/prompt.py",
        "while not code or code in whole:", "while not code:",
        "tests/judges/kinds/llm/test_fences.py::test_a_text_that_has_the_code_gets_another",
    ),
    Guard(
        "a pickle from the broker", "config/settings.py",
        'CELERY_ACCEPT_CONTENT = ["json"]', 'CELERY_ACCEPT_CONTENT = ["json", "pickle"]',
        "tests/config/test_settings.py::test_celery_takes_json_only",
    ),
    Guard(
        "fields of a body that nobody declared", "annotate/api/serializers.py",
        "        if unknown:\n            names =", "        if False:\n            names =",
        "tests/annotate/api/test_requests.py::test_an_unknown_field_is_refused",
    ),
    Guard(
        "preferences are those of the list", "annotate/projects/accounts.py",
        "    if unknown:\n        known =", "    if False:\n        known =",
        "tests/annotate/projects/test_accounts.py::test_what_is_refused_changes_nothing",
    ),
    Guard(
        "a release is a download", "annotate/api/files.py",
        "        as_attachment=True,", "        as_attachment=False,",
        "tests/annotate/files/test_releases.py::test_api",
    ),
    Guard(
        "a membership that has ended", "annotate/core/permissions.py",
        "Membership.objects.filter(project=project, user=user, is_active=True)",
        "Membership.objects.filter(project=project, user=user)",
        "tests/annotate/api/test_http.py::test_a_former_member_is_told_so_and_a_stranger_is_not",
    ),
    Guard(
        "a redirect is not followed, and said", "judges/endpoints/transport.py",
        "if 300 <= status < 400:", "if False:",
        "tests/judges/endpoints/test_addresses.py::test_a_redirect_leads_nowhere",
    ),
    Guard(
        "a name that was sent is no path", "annotate/files/import_jobs.py",
        "plain(Path(file_name).name)[-255:]", "plain(file_name)[-255:]",
        "tests/annotate/api/test_uploads.py::test_a_file_name_is_never_a_path",
    ),
    Guard(
        "a prompt's variables are those of a list", "judges/kinds/llm/prompt.py",
        "if name.strip() not in known:", "if False:",
        "tests/judges/kinds/llm/test_config.py::test_only_names_to_the_letter_are_variables",
    ),
    Guard(
        "every route wants a login", "config/settings.py",
        '["rest_framework.permissions.IsAuthenticated"]', '["rest_framework.permissions.AllowAny"]',
        "tests/annotate/api/test_access.py::test_without_an_account_everything_is_refused",
    ),
    Guard(
        "a closed account has no token", "annotate/api/auth.py",
        "user, _token = self.validate_user(token)", "user = token.user",
        "tests/annotate/api/test_access.py::test_a_disabled_account_gets_nothing",
    ),
    Guard(
        "the token of the page", "annotate/api/auth.py",
        "super().enforce_csrf(request._request)", "str(request._request)",
        "tests/annotate/api/test_access.py::test_a_session_needs_the_csrf_token",
    ),
    Guard(
        "a login leads to a page of this site", "frontend/account/single_sign_on.py",
        'return to if is_here and to.startswith("/")', "return to if to or is_here",
        "tests/frontend/account/test_single_sign_on.py::test_does_not_go_to_another_site",
    ),
    Guard(
        "log lines have no query", "config/logs.py",
        '_QUERY.sub("", record.getMessage())', "record.getMessage()",
        "tests/config/test_logs.py::test_no_secret_no_query_and_no_name_is_written",
    ),
]  # fmt: skip


def notices(guard: Guard, copy: Path) -> str:
    """What its test says without it."""
    file = copy / guard.file
    whole = file.read_text(encoding="utf-8")
    if whole.count(guard.there) != 1:
        raise SystemExit(f"{guard.name}: {guard.file} has {guard.there!r} {whole.count(guard.there)} times, not once.")
    file.write_text(whole.replace(guard.there, guard.instead), encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", guard.test]
        done = subprocess.run(command, cwd=copy, env=os.environ, capture_output=True, text=True)
    finally:
        file.write_text(whole, encoding="utf-8")
    if done.returncode == _TESTS_FAILED:
        return "noticed"
    return "not noticed" if done.returncode == 0 else f"could not run: {done.stdout[-300:]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="guards whose name has this word")
    options = parser.parse_args()
    chosen = [guard for guard in GUARDS if options.only in guard.name]
    heading(f"{len(chosen)} guards")
    said = []
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=_LEFT_OUT, symlinks=True)
        copy.chmod(0o755)
        for guard in chosen:
            said.append(notices(guard, copy))
            figure(guard.name, said[-1])
    sys.exit(0 if said and set(said) == {"noticed"} else 1)


if __name__ == "__main__":
    main()
