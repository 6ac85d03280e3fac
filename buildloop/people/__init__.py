"""People in the loop: hints for the next iteration, and answers when a run asks."""
