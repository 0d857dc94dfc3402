"""Shows a robot in the browser, and draws pictures of robots for the documentation."""
