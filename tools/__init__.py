"""Makers of the data that the package ships; developers run them, and no wheel holds them."""
