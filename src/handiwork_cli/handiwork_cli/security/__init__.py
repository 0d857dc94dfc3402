"""Permissions for SROS2, made from the table of interfaces."""
