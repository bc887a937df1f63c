"""Parts of the Rastelli & Friel script."""
