"""The command line: one file a group of commands, registered in `main`."""
