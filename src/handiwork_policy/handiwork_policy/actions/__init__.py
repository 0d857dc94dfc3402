"""The actions of a policy, as commands of an arm."""
