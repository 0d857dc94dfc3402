"""What lies inside of a body, and where its shapes are seen from above: built once for each geometry."""
