"""The form of each kind of judge, and what one may start from."""
