"""A server with the interface of MoveIt's move_group, which plans and executes by Handiwork."""
