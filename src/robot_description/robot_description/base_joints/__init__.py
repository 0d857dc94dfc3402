"""The node that publishes the joints of a base which nav2 drives."""
