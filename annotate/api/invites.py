from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import schema as shape
from annotate.api.base import ProjectAPIView, body
from annotate.mail import public_url, send_invitation
from annotate.selectors.invites import invite_as_dict, open_invites
from annotate.services.invites import DEFAULT_DAYS, create_invite, revoke_invite


class InvitesView(ProjectAPIView):
    actions = {"GET": "members.change", "POST": "members.change"}

    @shape.describes(shape.Invite(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The invitations that can still be used.

        The latest first. Their links are not among it: nobody can look them up.
        """
        return Response([invite_as_dict(invite) for invite in open_invites(self.project)])

    @shape.describes(shape.InviteCreated, request=shape.InviteCreation, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Makes a link that lets people join the project.

        Whoever opens it joins in the given role, with an account of theirs or a new one. The link is in this reply and
        nowhere else; with `email` it is also sent there.
        """
        data = body(request, {"role", "tags", "max_uses", "days", "email"}, required={"role"})
        invite, token = create_invite(
            actor=self.user,
            project=self.project,
            role=data["role"],
            tags=data.get("tags", []),
            max_uses=data.get("max_uses", 1),
            days=data.get("days", DEFAULT_DAYS),
            email=data.get("email", ""),
        )
        mailed = bool(invite.email) and send_invitation(invite=invite, token=token)
        found = {**invite_as_dict(invite), "link": public_url("invite", token), "mailed": mailed}
        return Response(found, status=201)


class InviteView(ProjectAPIView):
    actions = {"DELETE": "members.change"}

    @shape.describes()
    def delete(self, request: Request, slug: str, invite_id: int) -> Response:
        """Takes an invitation back.

        Its link stops working at once; who came by it stays.
        """
        revoke_invite(actor=self.user, project=self.project, invite_id=invite_id)
        return Response(status=204)
