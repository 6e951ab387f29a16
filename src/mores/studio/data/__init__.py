"""What goes out of a campaign and comes into it: exports that are kept, cards, tables, and other tools' JSON."""
