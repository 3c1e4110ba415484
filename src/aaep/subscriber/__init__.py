"""What a reader uses: a subscription, its connection, and the replies sent over it."""
