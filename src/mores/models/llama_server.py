"""The embedded engine's process: a llama.cpp server on a loopback port, which ends when its parent does.

`python -m mores.models.llama_server` reads its settings, one line of JSON, prints the server's address and then
waits on its standard input: when the parent closes it, or dies in any way, the process exits.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def serve(settings: dict[str, Any]) -> Any:
    """Start the server; it lives as long as the returned object."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.n_ctx = settings["context"] * settings["slots"]
    params.n_parallel = settings["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.slot_save_path = settings["folder"]
    params.api_keys = [settings["key"]]  # other users of this machine share its loopback
    if settings["slots"] == 1:
        params.cache_ram_mib = 0  # states that nobody asked for: an answer could depend on what was asked before
    params.fit_params = settings["fit"]  # to a GPU's memory; takes longer than to load the default model
    params.warmup = False  # the first text is read at the same time
    params.verbosity = 0
    if settings["adapter"]:
        adapter = xllamacpp.CommonAdapterLoraInfo()
        adapter.path, adapter.scale = settings["adapter"], 1.0
        params.lora_adapters = [adapter]
    return xllamacpp.Server(params)


def main() -> None:
    """Serve until standard input ends."""
    server = serve(json.loads(sys.stdin.buffer.readline()))
    print(server.listening_address, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # the server's own shutdown waits for open connections


if __name__ == "__main__":
    main()
