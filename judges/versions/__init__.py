"""Judges and their versions: made, kept, dropped, compared, and read from a description."""
