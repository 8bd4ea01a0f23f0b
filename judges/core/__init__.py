"""What every room of this floor rests on: scores, which version counts, dev and test."""
