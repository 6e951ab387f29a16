"""The parts of all pages and tables: one template, one style sheet, one script, one set of charts, and the Grid."""
