"""The page's connection to a running stack."""
