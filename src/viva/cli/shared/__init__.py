"""What several commands share: options, the list of jobs, progress, where records are."""
