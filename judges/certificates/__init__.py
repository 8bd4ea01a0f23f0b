"""Looks at the locked test half, certificates that rest on them, the gate, drift, and applying a certificate."""
