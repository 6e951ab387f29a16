"""What all pages and tables are made of: one template, one style sheet, one script, one set of charts, and the Grid."""
