"""Members: invitations, what a member knows about, and how a membership ends."""
