"""The processes of the notebook engine; they import neither papermill nor our other modules."""
