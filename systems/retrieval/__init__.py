"""How well versions retrieve: judgements and rankings come in from files, and figures rest on all that is known."""
