"""cuRobo's solvers with arrays in and arrays out."""
