"""The sizes that AICB's formulas give, and those of the published ones.

Parameters are counted in parts, on one rank, so that a difference between two
sums is explained by the parts that differ. The formulas of AICB are those of
mocked_model/training in its repository; ours are explained in
docs/aicb-differences.md.
"""

from aicb_comparison.commands import padded


class Sizes:
    def __init__(self, command):
        f = self.flags = command.flags
        self.kind = command.kind
        self.log = command.kind.endswith("log")
        self.inference = command.kind in ("inference", "vidur")
        self.sp = f.enable_sequence_parallel
        self.deepseek = f.frame == "DeepSeek"
        self.deepspeed = f.frame == "DeepSpeed"
        self.tp = f.tensor_model_parallel_size
        self.pp = f.pipeline_model_parallel
        self.ep = f.expert_model_parallel_size
        self.dp = f.world_size // (self.tp * self.pp)
        self.dp_ep = max(1, self.dp // self.ep)
        self.ga = f.global_batch // (self.dp * f.micro_batch)
        self.layers = f.num_layers // self.pp  # Of a stage.
        self.moe_layers = 0
        if f.moe_enable or self.deepseek:
            dense = f.n_dense_layers if self.deepseek else 0
            self.moe_layers = max(0, self.layers - dense)
        # Of inference: whether our model has shared experts, and AICB's.
        self.has_shared_experts = command.model in (
            "deepseek-v3", "qwen3-next-80b-a3b")  # fmt: skip
        self.lists_shared_experts = command.model == "deepseek-v3"
        tokens = f.micro_batch * f.seq_length
        if self.inference:
            decodes = f.phase == "decode"
            tokens = f.micro_batch * (1 if decodes else f.seq_length)
        self.tokens = tokens
        self.hidden_bytes = 2 * tokens * f.hidden_size  # T.
        unit = f.make_vocab_size_divisible_by * self.tp
        self.vocabulary = padded(f.vocab_size, unit)

    def group(self, name):
        """The ranks of the group that a suffix or a dimension names."""
        return {"TP": self.tp, "DP": self.dp, "EP": self.ep,
                "DP_EP": self.dp_ep, "PP": self.pp}[name]  # fmt: skip

    def products(self):
        """Parameters of the matrices that both sides count the same."""
        f, h, layers = self.flags, self.flags.hidden_size, self.layers
        if self.deepseek:
            heads = f.num_attention_heads
            latent = h * (f.kv_lora_rank + f.qk_rope_dim)
            keys = f.kv_lora_rank * heads * (f.qk_nope_dim + f.v_head_dim)
            output = heads * f.v_head_dim * h
            attention = latent + (keys + output) // self.tp
        else:
            attention = 4 * h * h // self.tp
        return {"attention": layers * attention}

    def mlp(self, matrices):
        f = self.flags
        each = f.hidden_size * f.ffn_hidden_size // self.tp
        return (self.layers - self.moe_layers) * matrices * each

    def queries(self):
        """Of latent attention, with a latent vector of the queries."""
        f = self.flags
        if not self.deepseek:
            return 0
        up = self.query_width() // self.tp
        return self.layers * f.q_lora_rank * (f.hidden_size + up)

    def query_width(self):
        f = self.flags
        return f.num_attention_heads * (f.qk_nope_dim + f.qk_rope_dim)

    def aicb_experts(self):
        """With one of the shared experts, in three and two matrices."""
        f = self.flags
        each = f.hidden_size * f.ffn_hidden_size * self.moe_layers // self.tp
        held = f.num_experts // self.ep
        if not self.deepseek:
            return {"experts": 2 * held * each, "shared": 0}
        return {"experts": 3 * held * each,
                "shared": 2 * each * (f.n_shared_expert > 0)}  # fmt: skip

    def our_experts(self):
        f = self.flags
        each = f.hidden_size * f.ffn_hidden_size * self.moe_layers // self.tp
        return {"experts": 3 * (f.num_experts // self.ep) * each, "shared": 0}

    def aicb_parts(self):
        """Parameters that AICB counts, outside of experts."""
        f, h, layers = self.flags, self.flags.hidden_size, self.layers
        listed = self.sp or self.log
        norms = (3 if self.log else 2) * h * layers * listed
        if self.deepseek:
            norms += 2 * layers * (f.q_lora_rank + f.kv_lora_rank)
        shared = 0
        if self.deepseek and f.n_shared_expert > 0:
            shared = 2 * self.moe_layers * h * f.ffn_hidden_size // self.tp
        return {
            **self.products(),
            "embedding": 4 * self.vocabulary // self.tp * h,
            "positions": f.seq_length * h,
            "queries": self.queries(),
            "mlp": self.mlp(2),
            "shared": shared,
            "norms": norms,
            "router": 0,
            "biases": self.aicb_biases() if listed else 0,
            "logits": self.vocabulary // self.tp * h * listed,
        }

    def aicb_biases(self):
        """Of columns, a share; of rows, all."""
        f, h = self.flags, self.flags.hidden_size
        if not f.add_bias_linear or self.deepseek:
            return 0
        mlp = f.ffn_hidden_size // self.tp + h
        dense = self.layers - self.moe_layers
        logits = self.vocabulary // self.tp
        return self.layers * (3 * h // self.tp + h) + dense * mlp + logits

    def our_replicated(self):
        """Parameters that every rank of a TP group has a copy of."""
        f, h, layers = self.flags, self.flags.hidden_size, self.layers
        router = self.moe_layers * h * f.num_experts
        if self.deepseek:
            norms = layers * (2 * h + f.q_lora_rank + f.kv_lora_rank)
            down = f.q_lora_rank + f.kv_lora_rank + f.qk_rope_dim
            return {"norms": norms + h * (self.pp == 1), "router": router,
                    "positions": 0, "down": layers * h * down}  # fmt: skip
        positions = max(f.max_position_embeddings, f.seq_length) * h
        norms = 2 * h * (2 * layers + (self.pp == 1))
        biases = f.add_bias_linear * h * (2 * layers - self.moe_layers)
        return {"norms": norms, "router": router, "positions": positions,
                "biases": biases}  # fmt: skip

    def our_summed(self):
        """Bytes of replicated gradients that TP sums: not of the positions,
        which are added before the embedding is split."""
        replicated = self.our_replicated()
        return 4 * (sum(replicated.values()) - replicated["positions"])

    def our_parts(self):
        """Parameters outside of experts on the first stage."""
        f, h = self.flags, self.flags.hidden_size
        replicated = self.our_replicated()
        gated = 3 if f.swiglu or self.deepseek else 2
        width = f.ffn_hidden_size // self.tp
        dense = self.layers - self.moe_layers
        biases = replicated.get("biases", 0)
        if f.add_bias_linear and not self.deepseek:
            columns = (gated - 1) * width * dense
            biases += self.layers * 3 * h // self.tp + columns
        shared = 0
        if self.deepseek:
            shared = 3 * self.moe_layers * h * f.n_shared_expert * width
        untied = self.deepseek and self.pp == 1
        queries = self.queries()
        if self.deepseek and f.q_lora_rank == 0:
            queries = self.layers * h * self.query_width() // self.tp
        return {
            **self.products(),
            "embedding": self.vocabulary // self.tp * h,
            "positions": replicated["positions"],
            "queries": queries,
            "mlp": self.mlp(gated),
            "shared": shared,
            "norms": replicated["norms"],
            "router": replicated["router"],
            "biases": biases,
            "logits": self.vocabulary // self.tp * h * untied,
        }

    def llama(self):
        """Parameters of DeepSpeed's model, which both sides count the same."""
        f, h = self.flags, self.flags.hidden_size
        layer = 4 * h * h + 3 * h * f.ffn_hidden_size + 2 * h
        return 2 * f.vocab_size * h + f.num_layers * layer + h


# The difference that explains a part of the parameters.
PART_IDS = {
    "embedding": "P01", "positions": "P02", "norms": "P03", "mlp": "P04",
    "experts": "P04", "logits": "P05", "router": "P06", "shared": "P07",
    "queries": "P08", "biases": "P11",
}  # fmt: skip


def ids_of_parts(theirs, ours):
    """The ids of the parts that differ."""
    differ = [part for part in theirs if theirs[part] != ours.get(part, 0)]
    return sorted({PART_IDS[part] for part in differ})
