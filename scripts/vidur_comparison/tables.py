"""Tables of Vidur's profiler: reads them, and makes some of a formula.

The times made here are those of a formula for a GPU like an A100, rounded to
microseconds as the profiler rounds them; nobody measured them. They let programs
be tried and compared where Vidur's own tables are not at hand.
"""

import csv

FLOPS = 0.5 * 312e12
BYTES_PER_SECOND = 0.8 * 2.0e12
LAUNCH_MS = 0.006

# meta-llama/Meta-Llama-3-8B
HEADS, KV_HEADS, HIDDEN, EXPANDED, VOCABULARY = 32, 8, 4096, 14336, 128256
DIM = HIDDEN // HEADS


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def steps(largest, octave):
    """1, 2, 3, ..., later `octave` numbers to the octave, and the largest."""
    number, found = 1, []
    while number < largest:
        found.append(number)
        number += max(1, number // octave)
    return [*found, largest]


def ms(flops, moved):
    return LAUNCH_MS + 1e3 * max(flops / FLOPS, moved / BYTES_PER_SECOND)


def product(tokens, rows, columns):
    return ms(2 * tokens * rows * columns,
              2 * (rows * columns + tokens * (rows + columns)))


def compute(largest, octave):
    """mlp.csv of one GPU."""
    pre = (HEADS + 2 * KV_HEADS) * DIM
    times = {
        "attn_pre_proj": lambda n: product(n, HIDDEN, pre),
        "attn_post_proj": lambda n: product(n, HIDDEN, HIDDEN),
        "mlp_up_proj": lambda n: product(n, HIDDEN, 2 * EXPANDED),
        "mlp_act": lambda n: ms(0, 6 * n * EXPANDED),
        "mlp_down_proj": lambda n: product(n, EXPANDED, HIDDEN),
        "input_layernorm": lambda n: ms(0, 4 * n * HIDDEN),
        "post_attention_layernorm": lambda n: ms(0, 4 * n * HIDDEN),
        "attn_rope": lambda n: ms(0, 4 * n * (HEADS + KV_HEADS) * DIM),
        "add": lambda n: ms(0, 6 * n * HIDDEN),
    }
    lines = ["n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,"
             "num_tokens,num_tensor_parallel_workers," +
             ",".join(f"time_stats.{name}.median" for name in times)]
    for tokens in steps(largest, octave):
        lines.append(
            f"{HEADS},{KV_HEADS},{HIDDEN},{EXPANDED},{VOCABULARY},True,{tokens},1,"
            + ",".join(f"{time(tokens):.3f}" for time in times.values()))
    return "\n".join(lines) + "\n"


def attention(largest, batch, octave, caches):
    """attention.csv of one GPU for caches of up to `largest` positions."""
    lines = ["n_embd,n_q_head,n_kv_head,block_size,num_tensor_parallel_workers,"
             "batch_size,prefill_chunk_size,kv_cache_size,is_prefill,"
             "time_stats.attn_prefill.median,time_stats.attn_decode.median,"
             "time_stats.attn_kv_cache_save.median"]

    def add(size, chunk, cached, flops, moved):
        time = f"{ms(flops, moved):.3f}"
        saved = f"{0.002 + 1e-5 * max(size, chunk):.3f}"
        lines.append(
            f"{HIDDEN},{HEADS},{KV_HEADS},16,1,{size},{chunk},{cached},"
            f"{bool(chunk)},{time if chunk else ''},{'' if chunk else time},"
            f"{saved}")

    query, key = 4 * HEADS * DIM, 4 * KV_HEADS * DIM
    for cached in range(0, largest + 1, largest // caches):
        for chunk in steps(largest, octave):
            add(1, chunk, cached, query * chunk * (cached + chunk / 2),
                key * (cached + chunk))
        for size in steps(batch, octave):
            add(size, 0, cached, query * size * cached, key * size * cached)
    return "\n".join(lines) + "\n"


# The example of inputs/vidur.
EXAMPLE = {
    "compute/a100/meta-llama/Meta-Llama-3-8B/mlp.csv":
        lambda: compute(4096, 4),
    "compute/a100/meta-llama/Meta-Llama-3-8B/attention.csv":
        lambda: attention(4096, 128, 2, 8),
}
