// A model so small that what a step and a cache take is worked out by hand.

#ifndef TESTS_ASTRA_CORE_SERVING_TINY_LLAMA_H_
#define TESTS_ASTRA_CORE_SERVING_TINY_LLAMA_H_

#include "tests/testing/small_models.h"
#include "workload/models/model_spec.h"

namespace astra::testing {

// Llama with 2 blocks of 64 elements: 4 heads of 16 over 2 of keys, 128 wide,
// 256 words.
inline ModelSpec TinyLlama() {
  ModelSpec model = SmallLlama();
  model.layers = 2;
  model.hidden = 64;
  model.vocabulary = 256;
  model.feed_forward.ffn = 128;
  FullAttention attention;
  attention.heads = 4;
  attention.kv_heads = 2;
  attention.head_dim = 16;
  model.attention = attention;
  return model;
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_SERVING_TINY_LLAMA_H_
