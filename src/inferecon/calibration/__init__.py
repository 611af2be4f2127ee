"""Laws against measurements: read rows, fit constants, predict with an interval, judge."""
