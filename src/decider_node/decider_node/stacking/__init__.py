"""Bins off a conveyor onto a pallet, all upside down: cell, monitors, deciders."""
