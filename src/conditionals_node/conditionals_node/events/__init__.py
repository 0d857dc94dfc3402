"""Events of objects while a task runs: dropped, bumped, wrongly grabbed, fallen over, gone."""
