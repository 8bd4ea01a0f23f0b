"""Scores that judges gave elsewhere, from a file: its columns, its cells, and how they come in."""
