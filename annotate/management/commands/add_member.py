"""manage.py add_member SLUG USERNAME --role admin|reviewer|annotator"""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction

from annotate.management.base import OneLineCommand
from annotate.models import User
from annotate.models.project import Role
from annotate.projects.read import project_named
from annotate.projects.write import set_member


class Command(OneLineCommand):
    help = "Add an account to a project, or change its role; --create also creates the account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the project's short name")
        parser.add_argument("username")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--create", action="store_true", help="create the account; its password is printed once")
        parser.add_argument("--staff", action="store_true", help="with --create: the account may create projects")

    def handle(
        self, *args: Any, slug: str, username: str, role: str, create: bool, staff: bool, **options: Any
    ) -> None:
        if staff and not create:
            raise CommandError("--staff needs --create; it doesn’t change an existing account.")
        password = None
        with transaction.atomic():
            project = project_named(slug)
            if create:
                user, password = _created(username, is_staff=staff)
            else:
                user = _existing(username)
            set_member(project=project, user=user, role=role)
        self.stdout.write(f"{user.username} is {role} of {project.slug}.")
        if password is not None:
            self.stdout.write(f"Password (shown only once): {password}")


def _existing(username: str) -> User:
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise CommandError(f"No active account “{username}”. Use --create to create it.")
    return user


def _created(username: str, *, is_staff: bool) -> tuple[User, str]:
    if User.objects.filter(username=username).exists():
        raise CommandError(f"Account “{username}” already exists. Leave out --create.")
    password = secrets.token_urlsafe(12)
    user = User(username=username, is_staff=is_staff)
    user.set_password(password)
    try:
        user.full_clean()
    except ValidationError as error:
        raise CommandError(f"“{username}” is not a valid user name: {' '.join(error.messages)}") from error
    user.save()
    return user, password
