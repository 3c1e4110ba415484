"""Text as people write and hear it: languages, sentences, our own phrases, secrets, and what is unsafe to print."""
