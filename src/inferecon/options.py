"""Options that several commands have: one name, one type, one help text."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="print data as JSON")]
Engine = Annotated[str, typer.Option(help="vllm, sglang, trtllm, llama.cpp or transformers")]
Batch = Annotated[int, typer.Option(help="sequences served together")]
Isl = Annotated[int, typer.Option(help="input sequence length, tokens")]
Osl = Annotated[int, typer.Option(help="output sequence length, tokens")]
Activations = Annotated[str, typer.Option(help="default: what goes with the weights")]
Kv = Annotated[str, typer.Option(help="number format of the KV cache")]
Tp = Annotated[int, typer.Option(help="default: the fewest devices that hold it")]
Ep = Annotated[int, typer.Option(help="default: as tp, where the experts divide")]
Grid = Annotated[str, typer.Option(help="emissions of the grid, or of a country: SE, Sweden")]
Provider = Annotated[str, typer.Option(help="whose price; default: the lowest")]
