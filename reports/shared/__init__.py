"""What all reports share: numbers, tables, statuses, figures, templates."""
