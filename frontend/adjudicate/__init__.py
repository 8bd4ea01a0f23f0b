"""What reviewers do: the queue of disputes, one unit, many at once."""
