"""Planning a study before there are data: how many raters, items and models it needs, by simulation."""
