"""A service under load, event by event, whose steps take as long as the calibrated laws say."""
