"""What all of systems shares."""
