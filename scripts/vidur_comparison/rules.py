"""Vidur's rules in Python, for a model with grouped queries: forests of
scikit-learn, requests of Python's random numbers, and Sarathi's scheduler on one
GPU. Written from the description in workload/vidur; it stands in for Vidur where
that is not installed.

Facts: Vidur (microsoft/vidur, MIT), vidur/execution_time_predictor, scheduler
and request_generator.
"""

import math
import random

import numpy
from sklearn.ensemble import RandomForestRegressor

from vidur_comparison import tables

COMPUTE = ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj",
           "mlp_act", "input_layernorm", "post_attention_layernorm", "attn_rope",
           "add")


def round_up(value, unit):
    return -(-value // unit) * unit


class Forest:
    """Answers are kept, since scikit-learn takes long for one."""

    def __init__(self, rows, column, features):
        rows = [row for row in rows if row.get(column)]
        x = [features(row) for row in rows]
        y = [float(row[column]) for row in rows]
        # One of the sizes that Vidur searches.
        self.model = RandomForestRegressor(
            n_estimators=250, max_depth=16, min_samples_split=2, random_state=0,
            n_jobs=2).fit(numpy.array(x, float), y)
        self.model.n_jobs = 1
        self.known = {}

    def tabulate(self, points):
        answers = self.model.predict(numpy.array(points, float))
        self.known.update(zip(map(tuple, points), answers))

    def __call__(self, *point):
        if point not in self.known:
            self.tabulate([point])
        return self.known[point]


class Predictor:
    def __init__(self, mlp, attention, layers, largest, chunk):
        one_gpu = [row for row in tables.read(mlp)
                   if row["num_tensor_parallel_workers"] == "1"]
        rows = tables.read(attention)
        median = "time_stats.{}.median".format

        def number(row, name):
            return float(row[name])

        self.layers = layers
        tokens = [(n,) for n in range(8, chunk + 9, 8)]
        self.compute = [Forest(one_gpu, median(name),
                               lambda row: [number(row, "num_tokens")])
                        for name in COMPUTE]
        for forest in self.compute:
            forest.tabulate(tokens)
        self.save = Forest(rows, median("attn_kv_cache_save"), lambda row: [
            max(number(row, "prefill_chunk_size"), number(row, "batch_size"))])
        self.save.tabulate([(n,) for n in range(1, chunk + 1)])
        self.prefill = Forest(rows, median("attn_prefill"), lambda row: [
            number(row, "kv_cache_size"), number(row, "prefill_chunk_size") ** 2])
        self.decode = Forest(rows, median("attn_decode"), lambda row: [
            number(row, "batch_size"), number(row, "kv_cache_size")])
        self.decode.tabulate([(size, kv) for size in range(1, 129)
                              for kv in range(0, largest + 1, 64)])
        self.prefill.tabulate([(kv, part * part) for part in range(1, chunk + 1)
                               for kv in range(0, largest + 1, 64)])

    def seconds(self, chunks, caches):
        """Chunks are (tokens, positions before); caches of decodes."""
        tokens = sum(size for size, _ in chunks) + len(caches)
        ms = sum(forest(round_up(tokens, 8)) for forest in self.compute)
        ms += self.save(tokens)
        if caches:
            mean = round_up(int(sum(caches) / len(caches)), 64)
            more = 1.1 if len(caches) > 1 else 1
            ms += more * self.decode(len(caches), mean)
        if chunks:
            before = sum(round_up(cached, 64) for _, cached in chunks)
            whole = round(math.sqrt(sum(size * size for size, _ in chunks)))
            more = 1.1 if len(chunks) > 1 else 1
            ms += more * self.prefill(before, whole ** 2)
        return 1e-3 * self.layers * ms


class Request:
    def __init__(self, arrived, prompt, output):
        self.arrived, self.prompt, self.output = arrived, prompt, output
        self.done = 0
        self.scheduled = self.first = self.last = None

    def is_prefilled(self):
        return self.first is not None


def requests_of(trace, count, qps, max_tokens, seed=42):
    rows = tables.read(trace)
    order = numpy.random.RandomState(seed).permutation(len(rows))
    source = random.Random(seed)
    now, found = 0.0, []
    for index in order[:count]:
        now += min(-math.log(1 - source.random()) / qps, 3 / qps)
        prompt = int(rows[index]["num_prefill_tokens"])
        output = int(rows[index]["num_decode_tokens"])
        total = prompt + output
        over = max(0, total - max_tokens)
        found.append(Request(
            now, max(1, prompt - math.ceil(over * (prompt / total))),
            max(1, output - math.ceil(over * (output / total)))))
    return found


def form_batch(running, waiting, chunk, cap):
    """Decodes, prompts that run, new prompts. The cache is large enough."""
    batch, left = [], chunk
    for request in running:
        if request.is_prefilled():
            batch.append((request, 1))
            left -= 1
    for request in running:
        if not request.is_prefilled() and left > 0:
            size = min(request.prompt - request.done, left)
            batch.append((request, size))
            left -= size
    while waiting and left > 0 and len(running) < cap:
        request = waiting.pop(0)
        running.append(request)
        size = min(request.prompt, left)
        batch.append((request, size))
        left -= size
    return batch


def serve(requests, predictor, chunk, cap):
    """Sets the times of the requests."""
    coming, waiting, running, now = list(requests), [], [], 0.0
    while coming or waiting or running:
        if not running and not waiting:
            now = max(now, coming[0].arrived)
        while coming and coming[0].arrived <= now:
            waiting.append(coming.pop(0))
        batch = form_batch(running, waiting, chunk, cap)
        for request, _ in batch:
            if request.scheduled is None:
                request.scheduled = now
        now += predictor.seconds(
            [(size, r.done) for r, size in batch if not r.is_prefilled()],
            [r.done for r, _ in batch if r.is_prefilled()])
        for request, size in batch:
            request.done += size
            if not request.is_prefilled() and request.done == request.prompt:
                request.first = now
                request.done += 1
            if request.done == request.prompt + request.output:
                request.last = now
        running = [request for request in running if request.last is None]
