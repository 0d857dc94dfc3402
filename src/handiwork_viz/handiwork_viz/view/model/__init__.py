"""What the page shows, and the forms of skills: no ROS and no browser."""
