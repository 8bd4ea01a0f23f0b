"""Injection canaries: whether a judge's answer changes when the text that it judges asks it to."""
