"""Parts of the reproduction of Wang, Domeniconi & Laskey (2010)."""
