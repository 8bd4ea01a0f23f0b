"""Who takes part: invitations, what a member knows about, and how somebody leaves."""
