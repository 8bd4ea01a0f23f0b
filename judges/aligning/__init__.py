"""Aligning a judge with people: candidates made from what they said on dev, chosen there, and measured honestly."""
