"""Text for people: languages, sentences, phrases, redaction of secrets, and sanitizing."""
