"""A page in the browser that shows a running stack and sends it goals."""
