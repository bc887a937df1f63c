"""What makes a cluster: profiles of the columns of a table."""
