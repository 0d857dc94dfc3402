"""The ROS interface of the safety layer: its state, its services, the emergency stop, and the heartbeat lease."""
