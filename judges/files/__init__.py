"""Importing scores that judges gave elsewhere: a file's columns and cells, and the import itself."""
