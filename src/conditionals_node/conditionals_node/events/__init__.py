"""What happens to objects while a task runs: dropped, bumped, wrongly grabbed, fallen over, gone."""
