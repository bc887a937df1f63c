"""What each ingredient of the default searches is worth."""
