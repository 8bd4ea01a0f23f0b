"""What reviewers decide: the queue of disputes, one unit side by side, many at once, and ratings for the figures."""
