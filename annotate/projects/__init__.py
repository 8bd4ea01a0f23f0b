"""Projects: their criteria, accounts and roles as they are read and changed, and the trail of what happened."""
