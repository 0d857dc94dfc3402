"""The labelled situations: recording of their states, pictures, and the page that shows them."""
