"""The economics of LLM inference: sourced records, SymPy laws, and the report made from them."""
