"""The settings of a person who listens: what there is, the file they stand in, and which of several values counts."""
