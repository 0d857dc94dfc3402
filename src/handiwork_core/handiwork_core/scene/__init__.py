"""Scene files, their shapes and meshes."""
