"""What a reader of a run must know of it, and figures do not say."""

SHORT = 100  # requests: of fewer a queue that grows is not seen, and a p99 is their longest
FULL, LONG = 0.9, 20  # share of the ceiling from which a run must be so many batches long
CROWD = 33  # clients from which first tokens of a closed loop are known to come too early


def notes(found) -> list[str]:
    """Return in sentences what is odd about an outcome of ``run``."""
    tally, load, service = found.tally, found.load, found.service
    said = []
    if load.requests < SHORT:
        said.append(
            f"{load.requests:,} request{'s' * (load.requests > 1)}: too few to see whether a queue "
            "grows, and percentiles are those of these few"
        )
    done = max(tally.done, 1)
    if tally.changed.cut:
        said.append(
            f"{tally.changed.cut:,} of {load.requests:,} requests were longer than "
            f"{load.lengths.most:,} tokens and were cut: {tally.tokens_in / done:,.0f} in and "
            f"{tally.tokens_out / done:,.0f} out are the means that were served"
        )
    full = load.rate and not found.saturated and load.rate > FULL * found.most
    each = service.instances // found.parts
    if full and load.requests < LONG * service.batch * each:
        said.append(
            f"{load.rate / found.most:.0%} of what can be served, and {load.requests:,} requests: "
            "too few for the queue to show its length; give more --requests"
        )
    if load.clients >= CROWD:
        said.append(
            "a closed loop of many clients: first tokens come too early here, "
            "page reference/serving says by how much"
        )
    for phase, most in zip(("prefill", "decode"), tally.most_held, strict=True):
        if service.apart and most > found.steps.room and not found.saturated:
            said.append(
                f"caches that wait take up to {most / 1e9:.3g} GB of a worker to {phase}, and "
                f"{found.steps.room / 1e9:.3g} GB are free: it would have to stop for them, so "
                "latencies are at least these"
            )
    if tally.changed.silent:
        said.append(f"{tally.changed.silent:,} of the trace without a token in or out, passed over")
    return said
