"""The parameters of skills: parsing, checks, and the catalog of skills."""
