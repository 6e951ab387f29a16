"""Statistics: pure functions, no input or output."""
