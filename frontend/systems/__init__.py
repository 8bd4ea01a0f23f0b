"""What systems are asked and what they said: test sets, questions, versions, and questions to be confirmed."""
