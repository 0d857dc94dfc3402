"""Clients and servers of policies over the network."""
