"""The pages, by who uses them."""
