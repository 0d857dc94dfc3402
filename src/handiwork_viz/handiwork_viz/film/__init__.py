"""Films what the robot did, in software: bare machines have no OpenGL."""
