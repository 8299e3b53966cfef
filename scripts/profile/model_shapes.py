"""From a model and its layout on GPUs to the shapes of its operators."""

import dataclasses
import json

from operator_table import BYTES_OF, PRECISIONS, ProfileError, Shape, open_text

# Parameters that one call of the optimizer updates. Its time grows in
# proportion from the largest on.
ADAM_PARAMETERS = (1 << 20, 1 << 24, 1 << 28)
# Per FP32 parameter: weight, gradient and two moments are read, all but the
# gradient are written.
ADAM_BYTES = 28
VOCABULARY_MULTIPLE = 128  # Megatron-LM pads to this, for each tensor rank.


@dataclasses.dataclass(frozen=True)
class Model:
    hidden: int
    heads: int
    kv_heads: int
    qk_dim: int
    v_dim: int
    vocab: int
    ffn: int = 0  # 0: every block has experts.
    gated: bool = True  # SwiGLU instead of GELU.
    norm: str = "rms_norm"
    experts: int = 0
    top_k: int = 0
    expert_ffn: int = 0
    shared_ffn: int = 0  # Of all shared experts together.
    # Multi-head latent attention (DeepSeek), where kv_lora is above 0.
    q_lora: int = 0
    kv_lora: int = 0
    rope_dim: int = 0  # The part of qk_dim that turns; 0: all of it.

    @property
    def activation(self):
        return "swiglu" if self.gated else "gelu"


@dataclasses.dataclass(frozen=True)
class Layout:
    tp: int = 1
    ep: int = 1
    etp: int = 1  # Tensor parallelism of one expert.
    precision: str = "bf16"  # Of the products.
    sequence: int | None = None  # None: all tokens are one sequence.
    contexts: tuple[int, ...] = ()
    forward_only: bool = False


SIZE_FLAGS = ("hidden", "heads", "kv-heads", "head-dim", "vocab", "ffn",
              "experts", "top-k", "expert-ffn", "shared-ffn")


def positive(text):
    """Reads a number from the command line."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError(text)
    return int(text)


def add_flags(parser):
    model = parser.add_argument_group("model (a flag overrides the file)")
    model.add_argument("--config", metavar="FILE",
                       help="config.json of Hugging Face")
    for name in SIZE_FLAGS:
        model.add_argument(f"--{name}", type=positive, metavar="N")
    model.add_argument("--activation", choices=("swiglu", "gelu"))
    model.add_argument("--norm", choices=("rms_norm", "layer_norm"))
    layout = parser.add_argument_group("layout")
    layout.add_argument("--tp", type=positive, default=1, metavar="N")
    layout.add_argument("--ep", type=positive, default=1, metavar="N")
    layout.add_argument("--etp", type=positive, metavar="N",
                        help="tensor parallelism of experts (default: as --tp)")
    layout.add_argument("--precision", choices=PRECISIONS, default="bf16",
                        help="of the products (default bf16)")
    layout.add_argument("--tokens", type=positive, nargs="+", required=True,
                        metavar="N", help="tokens of a micro batch")
    layout.add_argument("--sequence", type=positive, metavar="N",
                        help="length of a sequence (default: all tokens)")


def first_of(config, *names, default=0):
    """Returns the value of the first name that is there and not null."""
    for name in names:
        if config.get(name) is not None:
            return config[name]
    return default


def sizes_of_config(config):
    """Returns fields of Model from a configuration of Hugging Face."""
    hidden = first_of(config, "hidden_size", "n_embd", "d_model")
    ffn = first_of(config, "intermediate_size", "n_inner", "ffn_dim")
    heads = first_of(config, "num_attention_heads", "n_head", "num_heads")
    experts = first_of(
        config, "num_experts", "num_local_experts", "n_routed_experts")
    sizes = {
        "hidden": hidden,
        "heads": heads,
        "kv_heads": first_of(config, "num_key_value_heads", "num_kv_heads"),
        "head_dim": first_of(config, "head_dim"),
        "vocab": first_of(config, "vocab_size"),
        "ffn": ffn,
    }
    if experts:
        expert_ffn = first_of(config, "moe_intermediate_size", default=ffn)
        shared = first_of(config, "n_shared_experts") * expert_ffn
        sizes |= {
            "ffn": ffn if first_of(config, "first_k_dense_replace") else 0,
            "experts": experts,
            "top_k": first_of(
                config, "num_experts_per_tok", "num_experts_per_token"),
            "expert_ffn": expert_ffn,
            "shared_ffn": first_of(
                config, "shared_expert_intermediate_size", default=shared),
        }
    if first_of(config, "kv_lora_rank"):
        rope = first_of(config, "qk_rope_head_dim")
        sizes |= {
            "q_lora": first_of(config, "q_lora_rank"),
            "kv_lora": first_of(config, "kv_lora_rank"),
            "rope_dim": rope,
            "head_dim": first_of(config, "qk_nope_head_dim") + rope,
            "v_dim": first_of(config, "v_head_dim"),
        }
    return sizes


def read_config(path):
    with open_text(path) as file:
        try:
            config = json.load(file)
        except ValueError as error:  # Also where it is no UTF-8.
            raise ProfileError(f"{path}: not JSON: {error}") from error
    if isinstance(config, dict):
        # Models that also see pictures have their text part within.
        config = config.get("text_config", config)
    if not isinstance(config, dict):
        raise ProfileError(f"{path}: not an object")
    try:
        sizes = sizes_of_config(config)
    except TypeError as error:
        raise ProfileError(f"{path}: a size is not a number") from error
    for name, value in sizes.items():
        if type(value) is not int or value < 0:
            raise ProfileError(f"{path}: {name} is {value!r}, not a number")
    act = first_of(config, "hidden_act", "activation_function", default="silu")
    sizes["gated"] = act in ("silu", "swish")
    sizes["norm"] = "rms_norm" if "rms_norm_eps" in config else "layer_norm"
    return sizes


def model_of(options):
    """Returns the model that the flags or the file describe."""
    sizes = read_config(options.config) if options.config else {}
    for flag in SIZE_FLAGS:
        name = flag.replace("-", "_")
        if (value := getattr(options, name)) is not None:
            sizes[name] = value
    if options.activation:
        sizes["gated"] = options.activation == "swiglu"
    if options.norm:
        sizes["norm"] = options.norm
    need(sizes, "hidden", "heads", "vocab")
    if sizes.get("experts"):
        need(sizes, "top_k", "expert_ffn")
    elif not sizes.get("ffn"):
        if not options.config:
            need(sizes, "ffn")
        sizes["ffn"] = 4 * sizes["hidden"]  # What n_inner: null means.
    dim = sizes.pop("head_dim", 0)
    if not dim:
        dim, rest = divmod(sizes["hidden"], sizes["heads"])
        if rest:
            raise ProfileError(
                f"hidden {sizes['hidden']} is not a multiple of heads "
                f"{sizes['heads']}: give --head-dim"
            )
    sizes["kv_heads"] = sizes.get("kv_heads") or sizes["heads"]
    sizes["qk_dim"] = dim
    sizes.setdefault("v_dim", dim)
    return Model(**sizes)


def need(sizes, *names):
    for name in names:
        if not sizes.get(name):
            flag = "--" + name.replace("_", "-")
            raise ProfileError(f"the model has no {name}: give {flag}")


def layout_of(options):
    return Layout(
        tp=options.tp,
        ep=options.ep,
        etp=options.etp or options.tp,
        precision=options.precision,
        sequence=options.sequence,
        contexts=tuple(getattr(options, "context", ())),
        forward_only=getattr(options, "forward_only", False),
    )


def check_model(model, layout):
    """Raises where the layout does not divide the model."""
    divisions = [
        ("heads", model.heads, "--tp", layout.tp),
        ("heads", model.heads, "kv_heads", model.kv_heads),
        ("ffn", model.ffn, "--tp", layout.tp),
        ("shared_ffn", model.shared_ffn, "--tp", layout.tp),
        ("expert_ffn", model.expert_ffn, "--etp", layout.etp),
        ("experts", model.experts, "--ep", layout.ep),
    ]
    for name, value, by_name, by in divisions:
        if value % by:
            raise ProfileError(
                f"{name} {value} is not a multiple of {by_name} {by}"
            )
    if max(model.kv_heads, layout.tp) % min(model.kv_heads, layout.tp):
        raise ProfileError(
            f"kv_heads {model.kv_heads} and --tp {layout.tp}: neither is a "
            "multiple of the other"
        )
    if model.top_k > model.experts:
        raise ProfileError(
            f"top_k {model.top_k} is above experts {model.experts}"
        )


def linear(operator, layout, m, n, k, groups=1):
    """Returns the three products of a linear layer: y = x w, and gradients."""
    def product(part, *sizes):
        return Shape(operator, layout.precision, groups, *sizes, part=part)

    shapes = [product("forward", m, n, k)]
    if not layout.forward_only:
        shapes += [
            product("input_gradient", m, k, n),
            product("weight_gradient", n, k, m),
        ]
    return shapes


def stream(operator, layout, rows, width, moved, moved_back=0, choices=0):
    """Returns an operator bound by memory and, where it has one, its gradient.

    `moved` is how often rows x width elements of BF16 are read or written.
    """
    size = rows * width * BYTES_OF["bf16"]
    shapes = [Shape(operator, "bf16", bytes=moved * size, rows=rows,
                    width=width, choices=choices)]
    if moved_back and not layout.forward_only:
        shapes.append(Shape(operator, "bf16", bytes=moved_back * size,
                            part="backward", rows=rows, width=width))
    return shapes


def attention(model, layout, batch, queries, keys, backward):
    return Shape(
        "attention", "bf16", batch=batch, queries=queries, keys=keys,
        heads=model.heads // layout.tp,
        kv_heads=max(1, model.kv_heads // layout.tp),
        qk_dim=model.qk_dim, v_dim=model.v_dim, causal=True, window=0,
        backward=backward)


def projections(model, layout, tokens):
    """Returns the linear layers around attention."""
    heads = model.heads // layout.tp
    kv_heads = max(1, model.kv_heads // layout.tp)
    if model.kv_lora:
        nope_dim = model.qk_dim - model.rope_dim
        layers = [
            ("kv_down", model.kv_lora + model.rope_dim, model.hidden),
            ("kv_up", heads * (nope_dim + model.v_dim), model.kv_lora),
            ("q_up", heads * model.qk_dim, model.q_lora or model.hidden),
        ]
        if model.q_lora:
            layers.append(("q_down", model.q_lora, model.hidden))
    else:
        width = heads * model.qk_dim + kv_heads * (model.qk_dim + model.v_dim)
        layers = [("qkv_linear", width, model.hidden)]
    shapes = []
    for operator, n, k in layers:
        shapes += linear(operator, layout, tokens, n, k)
    return shapes + linear(
        "output_linear", layout, tokens, model.hidden, heads * model.v_dim)


def attention_part(model, layout, tokens):
    length = layout.sequence or tokens
    if tokens % length:
        raise ProfileError(
            f"--tokens {tokens} is not a multiple of --sequence {length}"
        )
    shapes = projections(model, layout, tokens)
    directions = (False,) if layout.forward_only else (False, True)
    shapes += [attention(model, layout, tokens // length, length, length, d)
               for d in directions]
    shapes += [attention(model, layout, tokens, 1, keys, False)
               for keys in layout.contexts]
    # Latent attention turns one key for all heads.
    turned = model.rope_dim or model.qk_dim
    kv_heads = 1 if model.kv_lora else max(1, model.kv_heads // layout.tp)
    heads = model.heads // layout.tp + kv_heads
    return shapes + stream("rope", layout, tokens, heads * turned, 2)


def activation(model, layout, rows, width):
    back = {"swiglu": 5, "gelu": 3}[model.activation]
    forward = {"swiglu": 3, "gelu": 2}[model.activation]
    return stream(model.activation, layout, rows, width, forward, back)


def feed_forward(model, layout, tokens, width, prefix):
    """Returns a plain feed-forward part, as shared experts are too."""
    if not width:
        return []
    width //= layout.tp
    up = 2 * width if model.gated else width
    return [
        *linear(f"{prefix}_up", layout, tokens, up, model.hidden),
        *activation(model, layout, tokens, width),
        *linear(f"{prefix}_down", layout, tokens, model.hidden, width),
    ]


def rows_per_expert(model, layout, tokens):
    """Returns the tokens of one expert where all get the same.

    A tensor-parallel group holds `tokens`. An expert's come from etp ep ranks,
    each of which sends top_k copies of its tokens / tp.
    """
    copies = tokens * model.top_k * layout.etp * layout.ep
    return -(-copies // (layout.tp * model.experts))


def expert_part(model, layout, tokens):
    if not model.experts:
        return []
    groups = model.experts // layout.ep
    rows = rows_per_expert(model, layout, tokens)
    width = model.expert_ffn // layout.etp
    up = 2 * width if model.gated else width
    return [
        *linear("router", layout, tokens, model.experts, model.hidden),
        *stream("permute", layout, tokens * model.top_k, model.hidden, 2,
                choices=tokens),
        *linear("experts_up", layout, rows, up, model.hidden, groups),
        *activation(model, layout, rows * groups, width),
        *linear("experts_down", layout, rows, model.hidden, width, groups),
    ]


def vocabulary_per_rank(model, layout):
    return -(-model.vocab // (VOCABULARY_MULTIPLE * layout.tp)
             ) * VOCABULARY_MULTIPLE


def ends(model, layout, tokens):
    """Returns embedding, output head and loss."""
    vocab = vocabulary_per_rank(model, layout)
    shapes = stream("embedding", layout, tokens, model.hidden, 2, choices=vocab)
    shapes += linear("logits", layout, tokens, vocab, model.hidden)
    if not layout.forward_only:
        # The loss and its gradient: logits are read for each.
        shapes += stream("cross_entropy", layout, tokens, vocab, 3)
    return shapes


def norm(model, layout, tokens):
    return stream(model.norm, layout, tokens, model.hidden, 2, 3)


def residual_add(model, layout, tokens):
    return stream("residual_add", layout, tokens, model.hidden, 3)


def adam():
    return [Shape("adam", "fp32", bytes=ADAM_BYTES * n, rows=1, width=n)
            for n in ADAM_PARAMETERS]


def shapes_of(model, layout, token_counts):
    """Returns each shape once, in the order of a layer."""
    check_model(model, layout)
    shapes = []
    for tokens in token_counts:
        shapes += norm(model, layout, tokens)
        shapes += attention_part(model, layout, tokens)
        shapes += residual_add(model, layout, tokens)
        shapes += feed_forward(model, layout, tokens, model.ffn, "ffn")
        shapes += feed_forward(
            model, layout, tokens, model.shared_ffn, "shared")
        shapes += expert_part(model, layout, tokens)
        shapes += ends(model, layout, tokens)
    if not layout.forward_only:
        shapes += adam()
    return list(dict.fromkeys(shapes))
