"""One's own account: tokens, keys, language."""
