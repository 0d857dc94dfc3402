"""Stages of skills: the scenes, the choice and the commands that follow from one declaration."""
