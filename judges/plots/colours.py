"""Colours that keep a contrast of at least 3 to 1 with white and with the dark page; lines also differ by dash."""

JUDGE = "#2f7fd1"
TPR = "#c2661f"
TNR = "#12907f"
BAND = "#8a7fb5"
