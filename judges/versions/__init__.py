"""Judges and their versions: creating, keeping, dropping and comparing them, and reading them from a description."""
