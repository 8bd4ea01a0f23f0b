"""What every room of this floor rests on: scores and the files they come in, which version counts, dev and test."""
