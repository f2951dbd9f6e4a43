"""The transformer's own parts, and how many parameters they have."""
