"""Which private classifier on a data set: accuracy, loss, attacks and cost side by side."""
