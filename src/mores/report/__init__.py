"""What a person sees of the judgements: `table` in the terminal, `page` in the browser."""
