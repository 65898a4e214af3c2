"""What accompanies a release: where its parts are, and what its manifest says."""
