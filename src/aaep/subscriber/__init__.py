"""The subscriber side: a subscription, its connection, and the replies sent over it."""
