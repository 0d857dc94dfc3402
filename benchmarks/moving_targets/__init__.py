"""Objects and containers that move while a skill goes to them."""
