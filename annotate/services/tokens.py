"""Tokens for programs: shown once, stored as a hash (knox)."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from knox.models import get_token_model

from annotate.models import User
from annotate.services.audit import note
from annotate.texts import is_storable


def make_token(*, actor: User) -> tuple[Any, str]:
    """The stored token, and its text, which nobody can read again."""
    with transaction.atomic():
        instance, token = get_token_model().objects.create(actor)
        note(actor=actor, action="token.created", subject=instance.token_key)
    return instance, token


def revoke_token(*, actor: User, token_id: str) -> bool:
    """Deletes one of the actor's own tokens. False: there is none of that id."""
    if not is_storable(token_id):
        return False
    with transaction.atomic():
        if not get_token_model().objects.filter(user=actor, token_key=token_id).delete()[0]:
            return False
        note(actor=actor, action="token.revoked", subject=token_id)
    return True
