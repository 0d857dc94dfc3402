"""What every command of a policy passes before a controller has it."""
