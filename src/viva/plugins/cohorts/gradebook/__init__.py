"""From scores to grades: lateness, attempts, extensions, excuses; each grade has sentences that explain it."""
