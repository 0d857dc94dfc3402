"""The GPU, its libraries and its compiled kernels."""
