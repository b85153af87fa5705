"""Who is in the class, what is due when and what late costs, and how files come in from where they were handed in."""
