"""Work that is done once and whose results are committed: training the ensembles behind the image studies."""
