"""The app: projects in a folder, from export files to the explorer, in the browser."""
