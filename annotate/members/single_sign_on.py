"""Who comes from the OpenID Connect provider: which account is theirs, and what their groups give it
(docs/decisions/0063-sign-in.md)."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotate.core.advisory import one_sign_in_at_a_time
from annotate.core.errors import Refusal
from annotate.core.texts import is_storable
from annotate.core.trail import note
from annotate.members.addresses import mark_confirmed
from annotate.members.write import deactivate_member, reactivate_member
from annotate.models import Identity, Membership, Project, User
from annotate.models.project import Role
from annotate.projects.second_factor import second_factor_of
from annotate.projects.write import set_member

_log = logging.getLogger(__name__)

# Each may do what those before it may.
_RANKS: tuple[str | None, ...] = (None, Role.ANNOTATOR, Role.REVIEWER, Role.ADMIN)
_FLAGS = ("is_superuser", "is_staff")


class NotLetIn(Refusal):
    """The provider knows the person, and this installation doesn't let them in."""

    status = 403


@dataclass(frozen=True)
class _Visitor:
    """The claims about a person, as far as they can be used; "" for what they do not say. groups: None where the
    provider only says whom to ask for them."""

    issuer: str
    subject: str
    email: str
    is_verified: bool
    username: str
    name: str
    groups: frozenset[str] | None


def sign_in(claims: Mapping[str, Any], *, may_create: bool) -> User:
    """The account of the person whom these claims, checked by the caller, are about; made where there is none and
    may_create. Gives and takes what their groups say. Raises NotLetIn."""
    visitor = _visitor(claims)
    with transaction.atomic():
        one_sign_in_at_a_time()
        known = Identity.objects.filter(issuer=visitor.issuer, subject=visitor.subject).select_related("user")
        identity = known.first() or _identity_of(visitor, may_create)
        if not identity.user.is_active:
            raise _deactivated()
        if visitor.is_verified and visitor.email.lower() == identity.user.email.lower():
            mark_confirmed(user=identity.user, by=visitor.issuer)
        if visitor.groups is None:
            _log.warning(
                "%s named no groups of account %s, only where to ask for them (_claim_names): its roles stay",
                visitor.issuer,
                identity.user.pk,
            )
        else:
            _give_flags(identity, visitor.groups)
            _give_roles(identity, visitor.groups)
        identity.save()
    return identity.user


def _visitor(claims: Mapping[str, Any]) -> _Visitor:
    subject = _text(claims, "sub", 255)
    if not subject:
        raise NotLetIn("no_subject", _("The provider didn’t say who you are."))
    email = _text(claims, "email", 254)
    try:
        validate_email(email)
    except ValidationError:
        email = ""
    return _Visitor(
        issuer=settings.OIDC_ISSUER,
        subject=subject,
        email=email,
        is_verified=bool(email) and claims.get("email_verified") is True,
        username=_text(claims, "preferred_username", 255) or email.partition("@")[0],
        name=_text(claims, "name", 150),
        groups=_groups(claims),
    )


def _groups(claims: Mapping[str, Any]) -> frozenset[str] | None:
    """Without the claim there are none, unless it is a distributed one (OpenID Connect Core 5.6.2), as Entra ID makes
    of more groups than a token holds."""
    name, elsewhere = settings.OIDC_GROUPS_CLAIM, claims.get("_claim_names")
    if name not in claims and isinstance(elsewhere, dict) and name in elsewhere:
        return None
    groups = claims.get(name)
    return frozenset(one for one in (groups if isinstance(groups, list) else [groups]) if isinstance(one, str))


def _text(claims: Mapping[str, Any], name: str, most: int) -> str:
    value = claims.get(name)
    return value.strip() if isinstance(value, str) and is_storable(value) and len(value) <= most else ""


def _identity_of(visitor: _Visitor, may_create: bool) -> Identity:
    """Of somebody who comes for the first time. An address that an account has is that account's, or nobody's: without
    OIDC_JOIN_BY_EMAIL a second account of the same person would be made."""
    same = list(User.objects.filter(email__iexact=visitor.email)) if visitor.email else []
    if any(not user.is_active for user in same):
        raise _deactivated()
    if same:
        return _join(visitor, same)
    if not may_create:
        raise NotLetIn("unknown_person", _("You have no account here. Ask a project admin for an invitation."))
    user = _new_account(visitor)
    note(actor=user, action="account.created", subject=user.username, by=visitor.issuer)
    return Identity(user=user, issuer=visitor.issuer, subject=visitor.subject)


def _join(visitor: _Visitor, same: list[User]) -> Identity:
    """Of several accounts the one that confirmed the address. Else nobody has checked that it was the account owner's:
    who wrote somebody else's into an account of their own would get in with its password, and the roles to come. So
    password, sessions and tokens end."""
    user, *others = [one for one in same if one.has_confirmed_email] or same
    identity = Identity.objects.filter(user=user).first() or Identity(user=user)
    is_taken = bool(others) or identity.issuer == visitor.issuer or not _may_be_joined(user)
    if is_taken or not visitor.is_verified or not settings.OIDC_JOIN_BY_EMAIL:
        raise NotLetIn(
            "email_taken", _("Another account here has your email address. Ask the person who runs this server.")
        )
    user.set_unusable_password()
    user.save(update_fields=["password"])
    note(actor=user, action="account.joined", subject=user.username, by=visitor.issuer)
    identity.issuer, identity.subject = visitor.issuer, visitor.subject
    return identity


def _may_be_joined(user: User) -> bool:
    """An address alone is no way to all projects, nor past a second factor. Of an account without a password it may
    have been written by whoever found its screen open, unless it was confirmed."""
    if user.is_superuser or second_factor_of(user) is not None:
        return False
    return user.has_usable_password() or user.has_confirmed_email


def _new_account(visitor: _Visitor) -> User:
    """The name is never a reason to take an account for the visitor's: one that is taken gets a number."""
    plain = unicodedata.normalize("NFKC", visitor.username)
    wanted = re.sub(r"[^\w.@+-]+", "-", plain)[:140].strip("-") or "user"
    for number in count(1):
        user = User(
            username=wanted if number == 1 else f"{wanted}-{number}",
            display_name=visitor.name,
            email=visitor.email if visitor.is_verified else "",
            confirmed_email=visitor.email if visitor.is_verified else "",
        )
        user.set_unusable_password()
        if user.has_former_name():
            continue
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError:
            continue
        return user
    raise AssertionError


def _deactivated() -> NotLetIn:
    return NotLetIn("account_deactivated", _("Your account was deactivated."))


def _give_flags(identity: Identity, groups: frozenset[str]) -> None:
    """An admin of every project, who may make projects. Whoever was made one by hand stays so."""
    user = identity.user
    is_admin = not groups.isdisjoint(settings.OIDC_ADMIN_GROUPS)
    changed = [flag for flag in _FLAGS if not getattr(user, flag)] if is_admin else identity.flags
    if not changed:
        return
    for flag in changed:
        setattr(user, flag, is_admin)
    user.save(update_fields=changed)
    identity.flags = sorted({*identity.flags, *changed}) if is_admin else []
    note(actor=None, action="account.admin_changed", subject=user.username, by=identity.issuer, is_admin=is_admin)


def _give_roles(identity: Identity, groups: frozenset[str]) -> None:
    wanted: dict[str, str] = {}
    for group, slug, role in settings.OIDC_ROLES:
        if group in groups:
            wanted[slug] = _higher(role, wanted.get(slug)) or role
    projects = {one.slug: one for one in Project.objects.filter(slug__in={*wanted, *identity.roles}, deleting_at=None)}
    if unknown := wanted.keys() - projects:
        _log.warning("OIDC_ROLES names projects that there are not: %s", ", ".join(sorted(unknown)))
    identity.roles = {slug: given for slug, given in identity.roles.items() if slug in projects}
    # In one order, as each is locked.
    for slug in sorted(projects):
        _give_role(identity, projects[slug], wanted.get(slug))


def _give_role(identity: Identity, project: Project, wanted: str | None) -> None:
    """The higher of what a group gives now and what was given by hand. Whom an admin has deactivated stays out."""
    user = identity.user
    member = Membership.objects.filter(project=project, user=user).first()
    has = member.role if member is not None and member.is_active else None
    given = identity.roles.pop(project.slug, None)
    ended_here = given is not None and given["role"] is None
    if member is not None and has is None and not ended_here:
        return
    # Changed by hand since: that is what was given by hand now.
    by_hand = given["before"] if given is not None and given["role"] == has else has
    role = _higher(wanted, by_hand)
    if role is None:
        if has is not None:
            deactivate_member(actor=None, project=project, user=user, keeps_an_admin=False)
        if member is not None:
            identity.roles[project.slug] = {"role": None, "before": None}
        return
    if member is not None and has is None:
        reactivate_member(actor=None, project=project, user=user)
    if member is None or member.role != role:
        set_member(project=project, user=user, role=role, keeps_an_admin=False)
    if role != by_hand:
        identity.roles[project.slug] = {"role": role, "before": by_hand}


def _higher(one: str | None, other: str | None) -> str | None:
    return max(one, other, key=_RANKS.index)
