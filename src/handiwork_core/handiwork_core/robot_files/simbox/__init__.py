"""Robot files of the SimBox format (InternDataEngine): their documented fields, taken over or checked."""
