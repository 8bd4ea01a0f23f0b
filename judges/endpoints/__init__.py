"""Asking a model: which addresses may be reached, with which key, how fast, and how replies are read."""
