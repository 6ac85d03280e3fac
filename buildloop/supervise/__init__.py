"""Watches a source of requests, has each worked on, and decides what to do when one fails."""
