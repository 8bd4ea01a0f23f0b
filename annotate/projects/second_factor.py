"""The second factor of an account: codes of an authenticator app, asked after the password, and recovery codes for when
the app is gone (docs/decisions/0063-sign-in.md)."""

from __future__ import annotations

import secrets
import time
import unicodedata

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _
from pyotp import TOTP, random_base32
from pyotp.utils import strings_equal

from annotate.core.attempts import KNOWN_BROWSER, SECOND_FACTOR, Limit, count, take_back
from annotate.core.browsers import known_browser
from annotate.core.errors import Conflict
from annotate.core.sealed import seal, unseal
from annotate.core.secret_links import digest
from annotate.core.trail import note
from annotate.models import Membership, SecondFactor, User
from annotate.models.project import Role

_ISSUER = "Touchstone"
_RECOVERY_CODES = 10
# No letter that looks like a digit: 80 random bits, so a digest keeps them, as it does a link's token.
_LETTERS, _LONG = "abcdefghjkmnpqrstuvwxyz23456789", 16


def second_factor_of(user: User) -> SecondFactor | None:
    return SecondFactor.objects.filter(user=user).first()


def is_required_of(user: User) -> bool:
    """Of admins, where the operator says so."""
    admin = Membership.objects.filter(user=user, is_active=True, role=Role.ADMIN)
    return settings.SECOND_FACTOR_FOR_ADMINS and (user.is_superuser or admin.exists())


def new_secret() -> str:
    return random_base32()


def address_for_app(user: User, secret: str) -> str:
    """What an authenticator app reads from the picture."""
    return TOTP(secret).provisioning_uri(name=user.username, issuer_name=_ISSUER)


def turn_on(*, request: HttpRequest, user: User, secret: str, code: str) -> list[str] | None:
    """The recovery codes, which are shown only now. None: the code is not the app's."""
    limits = _limits(request, user)
    count(limits)
    step = _step_of(secret, _plain(code))
    if step is None:
        return None
    take_back(limits)
    with transaction.atomic():
        codes = _new_codes()
        _found, is_new = SecondFactor.objects.get_or_create(
            user=user,
            defaults={"secret": seal(secret), "last_step": step, "recovery": [digest(_plain(code)) for code in codes]},
        )
        if not is_new:
            raise Conflict("second_factor_on", _("Two-factor authentication is on already."))
        note(actor=user, action="account.second_factor_on", subject=user.username)
    return codes


def is_right(*, request: HttpRequest, user: User, code: str) -> bool:
    """Whether it is a code of the user's app, or a recovery code; each serves once. Raises TooManyAttempts."""
    limits = _limits(request, user)
    count(limits)
    found = _use(user, _plain(code))
    if found:
        take_back(limits)
    return found


def new_recovery_codes(*, user: User) -> list[str]:
    """In place of those before; shown only now."""
    codes = _new_codes()
    SecondFactor.objects.filter(user=user).update(recovery=[digest(_plain(code)) for code in codes])
    note(actor=user, action="account.recovery_codes_made", subject=user.username)
    return codes


def turn_off(*, user: User, actor: User | None) -> bool:
    """False: it was not on."""
    with transaction.atomic():
        if not SecondFactor.objects.filter(user=user).delete()[0]:
            return False
        note(actor=actor, action="account.second_factor_off", subject=user.username)
    return True


def _use(user: User, code: str) -> bool:
    with transaction.atomic():
        factor = SecondFactor.objects.select_for_update().filter(user=user).first()
        if factor is None:
            return False
        if len(code) == _LONG:
            used = digest(code)
            if used not in factor.recovery:
                return False
            factor.recovery.remove(used)
            note(actor=user, action="account.recovery_code_used", subject=user.username, left=len(factor.recovery))
        else:
            secret = unseal(factor.secret)
            step = _step_of(secret, code) if secret else None
            if step is None or step <= factor.last_step:
                return False
            factor.last_step = step
        factor.save(update_fields=["recovery", "last_step"])
    return True


def _step_of(secret: str, code: str) -> int | None:
    """The half minute that the code is of: this one, or, of clocks that differ a little, the one before or after."""
    app, now = TOTP(secret), int(time.time()) // 30
    return next((step for step in (now, now - 1, now + 1) if strings_equal(app.generate_otp(step), code)), None)


def _plain(code: str) -> str:
    return "".join(unicodedata.normalize("NFKC", code).replace("-", "").split()).lower()


def _new_codes() -> list[str]:
    texts = ("".join(secrets.choice(_LETTERS) for _letter in range(_LONG)) for _code in range(_RECOVERY_CODES))
    return ["-".join(text[at : at + 4] for at in range(0, _LONG, 4)) for text in texts]


def _limits(request: HttpRequest, user: User) -> dict[str, Limit]:
    """A browser in which the account was logged in before has its own: a stranger with the password can't keep the
    owner out."""
    if browser := known_browser(request, user.username):
        return {f"second factor of {user.pk} in {browser}": KNOWN_BROWSER}
    return {f"second factor of {user.pk}": SECOND_FACTOR}
