"""What several commands share: options, the list of jobs, progress, places of records."""
