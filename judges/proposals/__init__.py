"""Claims that a judge's model proposes: looked at by people, and taken over by them."""
