"""Does it pay to guess ahead, and to keep prefill and decode apart?

Speculation turns idle arithmetic into tokens: drafts are verified in one step
that reads the weights once.  Splitting the phases removes the prefills from
between the decode steps, and pays with the transfer of a cache.
"""

from .. import symbols as s
from ..law import Derivation, Eq, Law, Max

a, drafts = s.acceptance, s.draft_tokens
steps = s.osl / s.one_token - 1

TOKENS = Law(
    "SPEC-TOKENS",
    Eq(s.tokens_per_step, (1 - a ** (drafts + 1)) / (1 - a)),
    "accepted drafts up to the first refusal, and one token from the model itself",
    "leviathan2023, eq. 1",
    holds=a < 1,
)
VERIFY_COST = Law(
    "SPEC-VERIFY",
    Eq(
        s.verify_cost,
        Max(1, s.batch * (1 + drafts) / s.ridge_batch) / Max(1, s.batch / s.ridge_batch),
    ),
    "a step costs its weights, or its arithmetic beyond the ridge; dense, caches small",
    "derived",
)
SPEEDUP = Law(
    "SPEC-SPEEDUP",
    Eq(s.spec_speedup, s.tokens_per_step / (s.verify_cost + drafts * s.draft_cost)),
    "tokens of a step over its drafts and its verification",
    "leviathan2023, theorem 3.8",
)
ONE_DRAFT = (
    Derivation.begin(SPEEDUP.eq, SPEEDUP.says)
    .use(TOKENS)
    .put({drafts: 1}, "one token drafted, as by one MTP module")
    .rewrite((1 + a) / (s.verify_cost + s.draft_cost), "the geometric sum has two terms")
)
BREAK_EVEN = (
    Derivation.begin(ONE_DRAFT.eq, "one drafted token")
    .put({s.spec_speedup: 1}, "neither gain nor loss")
    .solve_for(a, "what the extra work costs, the draft must bring")
)
ACCEPTANCE_EVEN = Law(
    "SPEC-EVEN",
    Eq(s.acceptance_even, BREAK_EVEN.eq.rhs),
    "acceptance at which one drafted token just pays",
    "derived",
)
SPEC_RIDGE = Law(
    "SPEC-RIDGE",
    Eq(s.spec_ridge_batch, s.ridge_batch / (1 + drafts)),
    "each sequence brings its drafts to the same weights",
    "derived",
)
TOO_MANY = (
    Derivation.begin(
        Eq(s.tokens_per_step, s.verify_cost + drafts * s.draft_cost),
        "neither gain nor loss",
        laws=(SPEEDUP,),
    )
    .put(
        {s.verify_cost: s.batch * (1 + drafts) / s.ridge_batch},
        "verification compute-bound, a plain step still memory-bound",
        VERIFY_COST,
    )
    .solve_for(s.batch, "the batch at which nothing is gained")
)
BATCH_EVEN = Law(
    "SPEC-BATCH",
    Eq(s.spec_batch_even, TOO_MANY.eq.rhs),
    "batch from which speculation loses time",
    "derived",
)

# Prefill and decode on workers of their own.
PREFILL_REQUEST = Law(
    "PREFILL-REQUEST",
    Eq(s.prefill_request, s.ttft / s.batch),
    "a prefill is shared by the prompts of its batch",
    "derived",
)
DECODE_REQUEST = Law(
    "DECODE-REQUEST",
    Eq(s.decode_request, steps * s.itl / s.batch),
    "an answer takes its steps, shared by the sequences of their batch",
    "derived",
)
BALANCE = (
    Derivation.begin(
        Eq(s.prefill_workers / s.prefill_request, s.decode_workers / s.decode_request),
        "as many prompts leave prefill as answers leave decode",
    )
    .put({s.prefill_workers: s.worker_ratio * s.decode_workers}, "the ratio of the two")
    .solve_for(s.worker_ratio, "neither side waits for the other")
)
WORKER_RATIO = BALANCE.law("WORKER-RATIO", "workers stand in the ratio of the times they work")
KV_TRANSFER = Law(
    "KV-TRANSFER",
    Eq(s.kv_transfer, s.isl * s.kv_bytes_per_token / s.transfer_bandwidth),
    "the prompt's cache crosses the link once",
    "zhong2024, sec. 3.3",
)
PREFILL_SHARE = Law(
    "PREFILL-SHARE",
    Eq(s.prefill_share, s.arrival_rate * s.prefill_request),
    "the utilisation of a shared worker by its prefills",
    "derived",
)
ITL_SHARED = Law(
    "ITL-SHARED",
    Eq(s.itl_shared, s.itl / (1 - s.prefill_share)),
    "decode has the time that prefill leaves, on one worker for both",
    "derived",
    holds=s.prefill_share < 1,
)
SPLIT = (
    Derivation.begin(
        Eq(s.kv_transfer, steps * (s.itl_shared - s.itl)),
        "the transfer takes as long as all waiting for other prefills",
    )
    .use(ITL_SHARED)
    .solve_for(s.prefill_share, "the share of prefill at which it does")
    .rewrite(
        s.kv_transfer / (s.kv_transfer + steps * s.itl),
        "the transfer over itself and an undisturbed answer",
    )
)
SHARE_EVEN = Law(
    "SPLIT-EVEN",
    Eq(s.prefill_share_even, SPLIT.eq.rhs),
    "share of prefill from which splitting the phases pays, at equal batch",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
