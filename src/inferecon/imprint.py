"""What every file that leaves the report says of itself."""

EDITION = "2026.12"
TITLE = "The economics of LLM inference"
AUTHORS = "The inferecon authors"
LICENCE = "CC BY 4.0"  # of text, figures and data
