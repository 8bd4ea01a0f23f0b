"""The interface's languages: which sentences there are, and their translations (frontend/locale)."""
