"""The searches of the papers, exactly as published."""
