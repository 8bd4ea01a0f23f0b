"""Judges: the list, making and editing, runs, the lab, canaries, endpoints."""
