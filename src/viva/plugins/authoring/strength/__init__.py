"""How many ways to break a solution its tests notice, and inputs that show the ones they do not."""
