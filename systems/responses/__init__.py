"""What versions of a system said to questions: versions, and their responses."""
