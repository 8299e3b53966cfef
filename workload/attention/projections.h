// Parts of modules that several kinds of attention have: the projections before
// and after the scores, and the writing of the KV cache.

#ifndef WORKLOAD_ATTENTION_PROJECTIONS_H_
#define WORKLOAD_ATTENTION_PROJECTIONS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/modules/model_shape.h"
#include "workload/modules/module_builder.h"

namespace astra {

// Adds a column-parallel product, without bias, of the hidden states to
// `outputs` elements. `parts` are the columns of each where PyTorch runs
// several products; see ModuleBuilder::Product.
void AddColumn(std::string_view op, int64_t outputs, const ModelShape& model,
               ModuleBuilder& builder, std::vector<int64_t> parts = {});

// Returns a module that begins with the norm and a product as of AddColumn.
ModuleBuilder BeginColumn(std::string_view name, std::string_view op,
                          int64_t outputs, const ModelShape& model,
                          const ModuleContext& context,
                          std::vector<int64_t> parts = {});

// Adds the row-parallel product of `width` elements to the hidden states, and
// the residual.
void AddOutputProjection(int64_t width, const ModelShape& model,
                         ModuleBuilder& builder);

// Adds, in inference, the writing of `elements` for each token, and a cache of
// `positions` of each sequence.
void AddKvCache(int64_t elements, int64_t positions, ModuleBuilder& builder);

}  // namespace astra

#endif  // WORKLOAD_ATTENTION_PROJECTIONS_H_
