"""What tools say when the cause is not the code, one file per family, as tables of anchored statements."""
