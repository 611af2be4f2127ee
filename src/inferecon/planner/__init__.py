"""Which service keeps a promise for the least: all are predicted, the best are simulated."""
