"""The counter-proof: the tests as they were at the start, run on the code as it is now."""
