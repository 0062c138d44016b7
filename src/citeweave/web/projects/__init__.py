"""The app: projects of a folder, from export files to the explorer, in the browser."""
