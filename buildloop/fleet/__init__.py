"""Many goals at once, or one goal tried in several ways."""
