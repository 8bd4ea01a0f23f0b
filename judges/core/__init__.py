"""What every room of this floor uses: scores, which version counts, dev and test."""
