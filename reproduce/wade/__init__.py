"""Parts of the Wade & Ghahramani script."""
