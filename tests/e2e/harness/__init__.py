"""A real Open WebUI with a scripted model, and fileshed beside it."""
