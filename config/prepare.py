"""`python -m config.prepare`: bring translations, database and static files up to date before anything is served."""

import hashlib
import os
import shutil
import sys
from ipaddress import ip_address
from pathlib import Path

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from config import env
from config.staticfiles import page_files
from config.storage import try_out_storage
from config.tables import migrate
from frontend.translation.catalogue import compile_catalogues


def static_fingerprint() -> str:
    """Changes whenever collectstatic would give another result: our files by size and time, packages by their pins."""
    root = Path(settings.BASE_DIR)
    state = hashlib.sha256()
    made_by = [root / f"requirements-{name}.txt" for name in ("server", "static")]
    for path in (*made_by, root / "config" / "staticfiles.py"):
        state.update(path.read_bytes())
    state.update("\n".join(page_files()).encode())
    for path in sorted(root.glob("frontend/*/static/**/*")):
        if path.is_file():
            about = path.stat()
            state.update(f"{path.relative_to(root)} {about.st_size} {about.st_mtime_ns}\n".encode())
    return state.hexdigest()


def collect_static() -> None:
    """Run collectstatic when something changed. The mark is written last, so an interrupted run is done again."""
    target = Path(settings.STATIC_ROOT)
    mark = target.with_name("static.fingerprint")
    wanted = static_fingerprint()
    if mark.exists() and mark.read_text() == wanted and (target / "staticfiles.json").exists():
        return
    mark.unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    mark.write_text(wanted)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_new() -> bool:
    """Whether nobody works here yet: a demo does not belong beside people's own work."""
    from annotate.models import User

    return not User.objects.exists()


def with_published_password() -> list[str]:
    """Names of the demo's accounts that still have the password everybody can read."""
    from annotate.demo import DEMO_LOGINS
    from annotate.models import User

    passwords = {name: password for _role, name, password in DEMO_LOGINS}
    users = User.objects.filter(username__in=passwords, is_active=True)
    return sorted(user.username for user in users if user.check_password(passwords[user.username]))


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        demo = env.choice("DEMO", "full", ("full", "small", "none"))
        host = env.text("HOST", env.OWN_ADDRESS)
    except ImproperlyConfigured as error:
        sys.exit(f"Touchstone: {error}")
    compile_catalogues()  # before anything reads them: a process reads each language once
    django.setup()
    try_out_storage()
    try:
        migrate()
    except CommandError as error:
        sys.exit(f"Touchstone: {error}")
    collect_static()
    is_own_machine = not settings.PRODUCTION and is_loopback(host)
    if is_own_machine:
        if demo != "none" and is_new():
            call_command("load_demo", small=demo == "small")
    elif known := with_published_password():
        sys.exit(
            f"Touchstone: at HOST={host} others could log in as {', '.join(known)}: everybody can read the passwords "
            "that the demo gives them. Change them (manage.py changepassword NAME) or delete the accounts first."
        )


if __name__ == "__main__":
    main()
