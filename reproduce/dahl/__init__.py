"""Parts of the reproduction of Dahl, Johnson & Müller (2022)."""
