"""What users set for their own account: keys and the look of the workspace, the language, and tokens for programs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from knox.crypto import hash_token

from annotate.core.errors import Conflict, Invalid
from annotate.core.hotkeys import ACTIONS_BESIDE_OPTIONS, DEFAULT_HOTKEYS, OPTION_KEYS, collision, keys_on
from annotate.core.texts import is_storable
from annotate.core.trail import note
from annotate.models import ApiToken, Criterion, Project, Scope, User
from annotate.models.batch import RUNNING_BATCH_STATUSES

VIEWS = ("one", "all")


@dataclass(frozen=True)
class Preferences:
    """hotkeys: action -> the key that the user chose for it; other actions have their default keys.

    single_keys: whether keys that are characters do anything (WCAG 2.1.4).
    view: one question at a time, or all of them at once.
    markers: whether invisible characters are marked.
    introduced: whether the user has seen, or skipped, the introduction to labelling.
    """

    hotkeys: dict[str, str]
    single_keys: bool = True
    view: str = "one"
    markers: bool = False
    introduced: bool = False

    def keys_on(self, page: str, *, options: Collection[str] = ()) -> dict[str, list[str]]:
        """Of a page (annotate.core.hotkeys.PAGE_ACTIONS): action -> the keys that do it. options: keys of options there
        (`option_hotkeys`)."""
        return keys_on(page, self.hotkeys, options=options)


def preferences_of(user: User) -> Preferences:
    """What the user stored; defaults for the rest."""
    return Preferences(**{"hotkeys": {}, **user.preferences})


def change_preferences(*, user: User, changes: Any) -> Preferences:
    """Changes those that are named and leaves the others; null restores the default. `hotkeys` is replaced whole.

    Raises Invalid for what is unknown and for keys that collide: with each other on one page, with the digits, with
    options.
    """
    if not isinstance(changes, dict):
        raise Invalid("bad_preferences", _("preferences: must be an object."))
    unknown = sorted(set(changes) - set(_CHECKS))
    if unknown:
        known = ", ".join(_CHECKS)
        raise Invalid(
            "unknown_preference",
            _("Preference “%(name)s” not found. Choose one of %(known)s.") % {"name": unknown[0][:80], "known": known},
        )
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        kept = {name: value for name, value in user.preferences.items() if name not in changes}
        given = {name: _CHECKS[name](value, user) for name, value in changes.items() if value is not None}
        user.preferences = {**kept, **given}
        user.save(update_fields=["preferences"])
    return preferences_of(user)


def _check_hotkeys(hotkeys: Any, user: User) -> dict[str, str]:
    if not isinstance(hotkeys, dict):
        raise Invalid("bad_hotkeys", _("hotkeys: must be an object of actions and their keys."))
    unknown = sorted(set(hotkeys) - set(DEFAULT_HOTKEYS))
    if unknown:
        raise Invalid("unknown_action", _("Action “%(name)s” not found.") % {"name": unknown[0][:80]})
    chosen = {name: _check_key(key) for name, key in hotkeys.items()}
    taken = collision(chosen)
    if taken is not None:
        key, actions = taken
        said = _("The key “%(key)s” is already in use.")
        raise Invalid("hotkey_taken", said % {"key": key}, key=key, actions=actions)
    option = _option_with_key(user, {key for name, key in chosen.items() if name in ACTIONS_BESIDE_OPTIONS})
    if option is not None:
        key, criterion = option
        raise Invalid(
            "hotkey_of_option",
            _("The shortcut “%(key)s” is used by an option of “%(criterion)s”. Choose another one.")
            % {"key": key, "criterion": criterion},
            key=key,
        )
    return {name: key for name, key in chosen.items() if DEFAULT_HOTKEYS[name] != (key,)}


def _check_key(key: Any) -> str:
    if not isinstance(key, str) or len(key) != 1 or len(key.lower()) != 1 or not key.isprintable() or key.isspace():
        raise Invalid("bad_hotkey", _("Must be one visible character."))
    if key in OPTION_KEYS:
        raise Invalid("hotkey_of_option", _("Digits and “-” are reserved for options. Choose another key."), key=key)
    return key.lower()


# Of criteria: those that people may still be asked.
_ASKED = Q(is_current=True) | Q(batches__status__in=RUNNING_BATCH_STATUSES)


def option_hotkeys(project: Project) -> set[str]:
    """The options' own keys in all that the project still asks. A criterion that is older than an action may have one
    that is the action's by default."""
    asked = Criterion.objects.filter(_ASKED, project=project).values_list("options", flat=True)
    return {option["hotkey"] for options in asked for option in options if option.get("hotkey")}


def _option_with_key(user: User, wanted: set[str]) -> tuple[str, str] | None:
    """A key among these that is an option's own, and the criterion's name: of criteria that the user may meet."""
    if not wanted:
        return None
    mine = Q(project__memberships__user=user, project__memberships__is_active=True)
    for criterion in Criterion.objects.filter(mine, _ASKED).distinct().only("name", "options"):
        for option in criterion.options:
            if option.get("hotkey") in wanted:
                return option["hotkey"], criterion.name
    return None


def _check_flag(value: Any, user: User) -> bool:
    if not isinstance(value, bool):
        raise Invalid("bad_preference", _("single_keys, markers and introduced: must be true or false."))
    return value


def _check_view(value: Any, user: User) -> str:
    if value not in VIEWS or not isinstance(value, str):
        raise Invalid("bad_preference", _("view: must be one or all."))
    return value


_CHECKS = {
    "hotkeys": _check_hotkeys,
    "single_keys": _check_flag,
    "view": _check_view,
    "markers": _check_flag,
    "introduced": _check_flag,
}


def choose_language(*, user: User, language: str) -> None:
    """The language of pages wherever the user logs in; "" leaves it to the browser. Raises Invalid."""
    if language and language not in dict(settings.LANGUAGES):
        raise Invalid("unknown_language", _("This language is not available."))
    User.objects.filter(pk=user.pk).update(language=language)


def change_password(*, user: User, password: str, keep_tokens: Collection[str] = ()) -> None:
    """`user` as it was when the old password was checked; it has the new one afterwards. Raises Conflict."""
    with transaction.atomic():
        lock_as_read(user)
        user.set_password(password)
        user.save(update_fields=["password"], keep_tokens=keep_tokens)


def lock_as_read(user: User) -> User:
    """The account as it is now, locked. Raises Conflict when it has another password by now, or was closed: who had a
    request under way while the owner threw them out must not have the last word."""
    same = User.objects.select_for_update(no_key=True).filter(pk=user.pk, password=user.password, is_active=True)
    found = same.first()
    if found is None:
        raise Conflict("logged_out", _("Your password was changed and you were logged out. Nothing was saved."))
    return found


def token_of(sent: bytes) -> ApiToken | None:
    """The token that a program sent."""
    try:
        digest = hash_token(sent.decode())
    except UnicodeDecodeError:
        return None
    return ApiToken.objects.filter(digest=digest).select_related("user").first()


_USED_EVERY = timedelta(hours=1)


def note_use(token: ApiToken) -> None:
    """To the hour, so that a program that asks all the time writes next to nothing."""
    now = timezone.now()
    if token.last_used is None or now - token.last_used > _USED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """Also those that have run out, until the next one is made. The latest first."""
    return ApiToken.objects.filter(user=user).order_by("-created")


MAX_TOKEN_NAME = 80
MAX_TOKEN_DAYS = cast("timedelta", settings.REST_KNOX["TOKEN_TTL"]).days
# Of a token whose maker chose none.
DEFAULT_SCOPES = (Scope.READ.value,)


def make_token(
    *, actor: User, name: str = "", scopes: Collection[str] = DEFAULT_SCOPES, days: int = MAX_TOKEN_DAYS
) -> tuple[ApiToken, str]:
    """The stored token (a hash: knox), and its text, which is shown only now. Deletes the actor's expired tokens.

    Raises Invalid, and Conflict for an actor who was logged out meanwhile.
    """
    name = name.strip()
    if len(name) > MAX_TOKEN_NAME or not is_storable(name):
        raise Invalid("bad_name", _("name: must be text of up to %(most)d characters.") % {"most": MAX_TOKEN_NAME})
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        known = ", ".join(Scope.values)
        raise Invalid("bad_scopes", _("scopes: choose at least one of %(known)s.") % {"known": known})
    with transaction.atomic():
        lock_as_read(actor)
        ApiToken.objects.filter(user=actor, expiry__lt=timezone.now()).delete()
        instance, token = ApiToken.objects.create(
            actor, name=name, scopes=[scope for scope in Scope.values if scope in scopes], expiry=timedelta(days=days)
        )
        note(
            actor=actor,
            action="token.created",
            subject=instance.token_key,
            name=name,
            scopes=instance.scopes,
            days=days,
        )
    return instance, token


def revoke_token(*, actor: User, token_id: str) -> bool:
    """Deletes one of the actor's own tokens. False: there is none of that id."""
    if not is_storable(token_id):
        return False
    with transaction.atomic():
        if not ApiToken.objects.filter(user=actor, token_key=token_id).delete()[0]:
            return False
        note(actor=actor, action="token.revoked", subject=token_id)
    return True


def mark_notices_read(*, user: User, until: datetime) -> None:
    """What came since stays new. Repeating it changes nothing, and neither does an earlier time."""
    own = User.objects.filter(pk=user.pk).filter(Q(notices_seen_at__isnull=True) | Q(notices_seen_at__lt=until))
    own.update(notices_seen_at=min(until, timezone.now()))
