"""The studio's database: events, and everything that is made from them."""
