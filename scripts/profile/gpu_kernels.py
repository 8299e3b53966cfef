"""The kernels that an operator may run as, in torch and what comes with it.

kernels_of() gives (name, make) pairs: make() lays out the operands and returns
the function to time. Several kernels of one operator do the same work; the
fastest counts, as a training framework would choose it.
"""


def random(torch, *sizes):
    return torch.randn(*sizes, device="cuda", dtype=torch.bfloat16)


def kernels_of(torch, shape):
    if shape.m is not None:
        return product_kernels(torch, shape)
    if shape.queries is not None:
        return attention_kernels(torch, shape)
    return STREAMS[shape.operator, shape.part](torch, shape)


# --- Products ---------------------------------------------------------------


def product_kernels(torch, shape):
    if shape.groups > 1:
        return [
            ("torch._grouped_mm", lambda: torch_grouped(torch, shape)),
            ("grouped_gemm", lambda: grouped_gemm(torch, shape)),
            ("bmm", lambda: batched(torch, shape)),
        ]
    if shape.precision == "fp8":
        return [("torch._scaled_mm", lambda: scaled(torch, shape))]
    return [("mm", lambda: plain(torch, shape))]


def operands(torch, shape, *groups):
    """Returns m x k and k x n, laid out as autograd finds them.

    Weights lie as n x k and activations as tokens x width, so that one operand
    of the forward pass and one of the weight gradient is transposed.
    """
    m, n, k = shape.m, shape.n, shape.k
    if shape.part == "weight_gradient":
        a = random(torch, *groups, k, m).transpose(-2, -1)
    else:
        a = random(torch, *groups, m, k)
    if shape.part == "forward":
        b = random(torch, *groups, n, k).transpose(-2, -1)
    else:
        b = random(torch, *groups, k, n)
    return a, b


def plain(torch, shape):
    a, b = operands(torch, shape)
    return lambda: torch.mm(a, b)


def batched(torch, shape):
    if shape.precision != "bf16":
        raise NotImplementedError("bmm has no FP8")
    a, b = operands(torch, shape, shape.groups)
    return lambda: torch.bmm(a, b)


def scaled(torch, shape):
    """FP8 with a scale for each operand; to quantize them is not timed."""
    fp8 = torch.float8_e4m3fn
    a = random(torch, shape.m, shape.k).to(fp8)
    b = random(torch, shape.n, shape.k).to(fp8).t()
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(
        a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def require_grouped_bf16(shape):
    if shape.precision != "bf16":
        raise NotImplementedError("grouped products are measured in BF16 only")


def torch_grouped(torch, shape):
    require_grouped_bf16(shape)
    groups, m, n, k = shape.groups, shape.m, shape.n, shape.k
    inner = k if shape.part == "weight_gradient" else m
    ends = inner * torch.arange(
        1, groups + 1, device="cuda", dtype=torch.int32)
    if shape.part == "weight_gradient":
        a = random(torch, groups * k, m).t()
        b = random(torch, groups * k, n)
    else:
        a = random(torch, groups * m, k)
        _, b = operands(torch, shape, groups)
    return lambda: torch._grouped_mm(a, b, offs=ends)


def grouped_gemm(torch, shape):
    """The package grouped_gemm, which Megatron-LM uses."""
    require_grouped_bf16(shape)
    from grouped_gemm import ops

    groups, m, n, k = shape.groups, shape.m, shape.n, shape.k
    if shape.part == "weight_gradient":
        sizes = torch.full((groups,), k, dtype=torch.int64)
        a = random(torch, groups * k, m)
        b = random(torch, groups * k, n)
        return lambda: ops.gmm(a, b, sizes, trans_a=True)
    sizes = torch.full((groups,), m, dtype=torch.int64)
    a = random(torch, groups * m, k)
    if shape.part == "forward":
        b = random(torch, groups, n, k)
        return lambda: ops.gmm(a, b, sizes, trans_b=True)
    b = random(torch, groups, k, n)
    return lambda: ops.gmm(a, b, sizes)


# --- Attention --------------------------------------------------------------


def attention_kernels(torch, shape):
    kernels = [("flash_attn", lambda: flash_attn(torch, shape))]
    for backend in ("FLASH_ATTENTION", "CUDNN_ATTENTION",
                    "EFFICIENT_ATTENTION"):
        kernels.append((
            f"sdpa {backend.lower()}",
            lambda backend=backend: scaled_dot_product(torch, shape, backend),
        ))
    return kernels


def attention_inputs(torch, s):
    """Returns queries, keys and values: batch x positions x heads x dim."""
    inputs = (
        random(torch, s.batch, s.queries, s.heads, s.qk_dim),
        random(torch, s.batch, s.keys, s.kv_heads, s.qk_dim),
        random(torch, s.batch, s.keys, s.kv_heads, s.v_dim),
    )
    for tensor in inputs:
        tensor.requires_grad_(s.backward)
    return inputs


def flash_attn(torch, shape):
    from flash_attn import flash_attn_func

    inputs = attention_inputs(torch, shape)
    return one_pass(
        torch, shape, inputs,
        lambda: flash_attn_func(*inputs, causal=shape.causal))


def scaled_dot_product(torch, shape, backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    attend = torch.nn.functional.scaled_dot_product_attention
    kind = getattr(SDPBackend, backend)
    inputs = attention_inputs(torch, shape)
    # A single query sees all keys. torch aligns the mask to the first query.
    masked = shape.causal and shape.queries > 1
    if masked and shape.queries != shape.keys:
        raise NotImplementedError("torch masks from the first key on")
    options = {"is_causal": masked}
    if shape.kv_heads != shape.heads:
        options["enable_gqa"] = True

    def forward():
        with sdpa_kernel(kind):
            return attend(*(x.transpose(1, 2) for x in inputs), **options)

    return one_pass(torch, shape, inputs, forward)


def one_pass(torch, shape, inputs, forward):
    """Returns the forward pass, or the backward pass alone."""
    return gradient(torch, forward(), inputs) if shape.backward else forward


def gradient(torch, result, inputs):
    by = torch.randn_like(result)
    return lambda: torch.autograd.grad(result, inputs, by, retain_graph=True)


# --- What memory bounds -----------------------------------------------------


def both(torch, name, function, *inputs_of):
    """Returns `function` as it is and compiled into one kernel.

    inputs_of: functions that make its arguments.
    """
    def make(wrap):
        arguments = [make_input() for make_input in inputs_of]
        run = wrap(function)
        return lambda: run(*arguments)

    def compiled(function):
        torch.compiler.reset()  # torch gives up after some shapes.
        return torch.compile(function, dynamic=False)

    return [
        (name, lambda: make(lambda function: function)),
        (f"{name} compiled", lambda: make(compiled)),
    ]


def activations(torch, shape, parts=1):
    """Returns a function that makes a tensor of `parts` times the width."""
    return lambda: random(torch, shape.rows, parts * shape.width)


def layer_norm(torch, s):
    norm = torch.nn.functional.layer_norm
    vector = lambda: random(torch, s.width)  # noqa: E731
    return both(torch, "layer_norm", lambda x, w, b: norm(x, x.shape[1:], w, b),
                activations(torch, s), vector, vector)


def layer_norm_backward(torch, s):
    def make():
        inputs = [random(torch, s.rows, s.width), random(torch, s.width),
                  random(torch, s.width)]
        for tensor in inputs:
            tensor.requires_grad_(True)
        x, w, b = inputs
        result = torch.nn.functional.layer_norm(x, (s.width,), w, b)
        return gradient(torch, result, inputs)

    return [("layer_norm backward", make)]


EPSILON = 1e-6


def rms_norm(torch, s):
    def norm(x, w):
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
        return (wide * scale).to(x.dtype) * w

    return both(torch, "rms_norm", norm, activations(torch, s),
                lambda: random(torch, s.width))


def rms_norm_backward(torch, s):
    def backward(by, x, w):
        wide, by = x.float(), by.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
        normal = wide * scale
        by_normal = by * w
        along = (by_normal * normal).mean(-1, keepdim=True)
        by_x = scale * (by_normal - normal * along)
        return by_x.to(x.dtype), (by * normal).sum(0)

    return both(torch, "rms_norm backward", backward, activations(torch, s),
                activations(torch, s), lambda: random(torch, s.width))


def residual_add(torch, s):
    return both(torch, "add", lambda x, y: x + y, activations(torch, s),
                activations(torch, s))


def rope(torch, s):
    """Turns halves of the row; the tables are small beside it."""
    def turn(x, cos, sin):
        low, high = x.chunk(2, -1)
        return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)

    table = lambda: random(torch, s.rows, 1)  # noqa: E731
    return both(torch, "rope", turn, activations(torch, s), table, table)


def swiglu(torch, s):
    def activate(x):
        gate, up = x.chunk(2, -1)
        return torch.nn.functional.silu(gate) * up

    return both(torch, "swiglu", activate, activations(torch, s, 2))


def swiglu_backward(torch, s):
    def backward(by, x):
        gate, up = x.chunk(2, -1)
        share = torch.sigmoid(gate)
        silu = gate * share
        by_gate = by * up * (share + silu * (1 - share))
        return torch.cat([by_gate, by * silu], -1)

    return both(torch, "swiglu backward", backward, activations(torch, s),
                activations(torch, s, 2))


def gelu(torch, s):
    activate = torch.nn.functional.gelu
    return both(torch, "gelu", lambda x: activate(x, approximate="tanh"),
                activations(torch, s))


def gelu_backward(torch, s):
    backward = torch.ops.aten.gelu_backward
    return both(torch, "gelu backward",
                lambda by, x: backward(by, x, approximate="tanh"),
                activations(torch, s), activations(torch, s))


def indices(torch, count, below):
    return torch.randint(below, (count,), device="cuda")


def embedding(torch, s):
    def make():
        table = random(torch, s.choices, s.width)
        tokens = indices(torch, s.rows, s.choices)
        return lambda: torch.nn.functional.embedding(tokens, table)

    return [("embedding", make)]


def cross_entropy(torch, s):
    """The loss and its gradient at once."""
    def loss_and_gradient(logits, targets):
        wide = logits.float()
        total = torch.logsumexp(wide, -1, keepdim=True)
        chosen = torch.arange(s.width, device=logits.device) == targets[:, None]
        loss = (total - wide.gather(1, targets[:, None])).mean()
        by_logits = (torch.exp(wide - total) - chosen.float()) / s.rows
        return loss, by_logits.to(logits.dtype)

    return both(torch, "cross_entropy", loss_and_gradient,
                activations(torch, s),
                lambda: indices(torch, s.rows, s.width))


def adam(torch, s):
    def make():
        weight = torch.zeros(s.width, device="cuda", requires_grad=True)
        weight.grad = torch.randn_like(weight)
        optimizer = torch.optim.AdamW([weight], fused=True)
        return optimizer.step

    return [("AdamW fused", make)]


def permute(torch, s):
    """Copies each token to its experts, in random order."""
    def make():
        tokens = random(torch, s.choices, s.width)
        order = torch.randperm(s.rows, device="cuda") % s.choices
        return lambda: tokens.index_select(0, order)

    return [("index_select", make)]


STREAMS = {
    ("layer_norm", "forward"): layer_norm,
    ("layer_norm", "backward"): layer_norm_backward,
    ("rms_norm", "forward"): rms_norm,
    ("rms_norm", "backward"): rms_norm_backward,
    ("residual_add", "forward"): residual_add,
    ("rope", "forward"): rope,
    ("swiglu", "forward"): swiglu,
    ("swiglu", "backward"): swiglu_backward,
    ("gelu", "forward"): gelu,
    ("gelu", "backward"): gelu_backward,
    ("embedding", "forward"): embedding,
    ("cross_entropy", "forward"): cross_entropy,
    ("adam", "forward"): adam,
    ("permute", "forward"): permute,
}
