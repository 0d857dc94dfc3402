"""Folders of many episodes: generated, resumed, merged."""
