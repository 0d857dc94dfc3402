"""Pictures of recorded states: any cameras and looks, after the episodes are there."""
