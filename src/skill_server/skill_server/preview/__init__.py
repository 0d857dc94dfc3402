"""Previews of skills: rehearsed on ports that move nothing, kept, and executed later as previewed."""
