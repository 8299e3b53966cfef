// Reads and writes files of fitted operators; see fitted_operators.h.

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"
#include "workload/operators/fitted_operators.h"

namespace astra {
namespace {

constexpr std::string_view kMagic = "simai-operator-trees";
// In the order of the alternatives of OperatorShape.
constexpr std::string_view kShapeNames[] = {"product", "attention",
                                            "delta_rule", "stream"};
constexpr std::string_view kLeafWord = "leaf";
constexpr size_t kShapeOfStreams = 3;
constexpr int64_t kMaxNodes = 10'000'000;  // Nodes of all trees of a file.

class FittedParser {
 public:
  FittedParser(std::string_view file, std::string_view contents)
      : reader_(file, contents) {
    Next();
  }

  absl::StatusOr<FittedOperators> Parse() {
    FittedOperators operators;
    ASTRA_RETURN_IF_ERROR(Expect(kMagic, 2));
    ASTRA_ASSIGN_OR_RETURN(const int64_t version, Integer(1, 0, 1000));
    if (version != 1) return reader_.Error(token(1), "expected version 1");
    Next();
    ASTRA_RETURN_IF_ERROR(Expect("gpu", 2));
    operators.gpu = token(1).text;
    Next();
    ASTRA_ASSIGN_OR_RETURN(operators.peak_tflops, Rate("peak_tflops"));
    ASTRA_ASSIGN_OR_RETURN(operators.memory_gb_per_s, Rate("memory_gb_per_s"));
    while (!at_end_) {
      const Token place = token(0);
      ASTRA_ASSIGN_OR_RETURN(FittedClass next, ReadClass());
      if (!operators.classes.empty() &&
          operators.classes.back().kind >= next.kind) {
        return reader_.Error(
            place, fmt::format("{}: expected classes in order, each once",
                               FormatClass(next.kind)));
      }
      operators.classes.push_back(std::move(next));
    }
    return operators;
  }

 private:
  const Token& token(size_t i) const { return reader_.tokens()[i]; }

  // Moves to the next line that is not empty.
  void Next() {
    do {
      at_end_ = !reader_.NextLine();
    } while (!at_end_ && reader_.tokens().empty());
  }

  // Requires the current line to begin with `word` and to have `words` words.
  absl::Status Expect(std::string_view word, size_t words) {
    if (at_end_ || reader_.tokens().empty()) {
      return reader_.ErrorAtEnd(fmt::format("expected \"{}\"", word));
    }
    if (token(0).text != word) {
      return reader_.Error(token(0), fmt::format("{}: expected \"{}\"",
                                                 Quoted(token(0).text), word));
    }
    return ExpectWords(words);
  }

  absl::Status ExpectWords(size_t words) {
    if (reader_.tokens().size() == words) return absl::OkStatus();
    return reader_.ErrorAtEnd(fmt::format("expected {} words, not {}", words,
                                          reader_.tokens().size()));
  }

  absl::StatusOr<int64_t> Integer(size_t i, int64_t least, int64_t most) {
    absl::StatusOr<int64_t> value =
        ParseInteger("number", token(i).text, least, most);
    if (value.ok()) return value;
    return reader_.Error(token(i), std::string(value.status().message()));
  }

  absl::StatusOr<double> Number(size_t i, double least, double most) {
    absl::StatusOr<double> value =
        ParseNumber("number", token(i).text, least, most);
    if (value.ok()) return value;
    return reader_.Error(token(i), std::string(value.status().message()));
  }

  // Reads a 32-bit float such as those of trees, exactly.
  absl::StatusOr<float> Float(size_t i) {
    const std::string_view text = token(i).text;
    float value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    return reader_.Error(token(i),
                         fmt::format("{}: expected a number", Quoted(text)));
  }

  absl::StatusOr<double> Rate(std::string_view word) {
    constexpr double kLeast = 1e-3, kMost = 1e9;
    ASTRA_RETURN_IF_ERROR(Expect(word, 2));
    absl::StatusOr<double> rate = Number(1, kLeast, kMost);
    Next();
    return rate;
  }

  absl::StatusOr<FittedClass> ReadClass() {
    ASTRA_ASSIGN_OR_RETURN(const OperatorClass kind, ReadKind());
    Next();
    ASTRA_RETURN_IF_ERROR(Expect("samples", 4));
    ASTRA_ASSIGN_OR_RETURN(const int64_t samples,
                           Integer(1, 1, std::numeric_limits<int64_t>::max()));
    if (token(2).text != "error") {
      return reader_.Error(token(2), "expected \"error\"");
    }
    constexpr double kMostError = 1e6;
    ASTRA_ASSIGN_OR_RETURN(const double error, Number(3, 0, kMostError));
    Next();
    ASTRA_ASSIGN_OR_RETURN(const auto sizes, ReadSizes());
    ASTRA_RETURN_IF_ERROR(Expect("start", 2));
    const Token place = token(0);
    ASTRA_ASSIGN_OR_RETURN(const float start, Float(1));
    Next();
    std::vector<Tree> trees;
    while (!at_end_ && token(0).text == "tree") {
      ASTRA_ASSIGN_OR_RETURN(Tree tree, ReadTree());
      trees.push_back(std::move(tree));
    }
    absl::StatusOr<TreeEnsemble> ensemble =
        TreeEnsemble::Create(start, std::move(trees), kNumFittedFeatures);
    if (!ensemble.ok()) {
      return reader_.Error(place, std::string(ensemble.status().message()));
    }
    return FittedClass{.kind = kind,
                       .num_samples = samples,
                       .error = error,
                       .sizes = sizes,
                       .trees = *std::move(ensemble)};
  }

  absl::StatusOr<OperatorClass> ReadKind() {
    if (reader_.tokens().size() < 3) {
      ASTRA_RETURN_IF_ERROR(Expect("class", 3));
    }
    ASTRA_RETURN_IF_ERROR(Expect("class", reader_.tokens().size()));
    const auto* shape = std::find(std::begin(kShapeNames),
                                  std::end(kShapeNames), token(1).text);
    if (shape == std::end(kShapeNames)) {
      return reader_.Error(token(1),
                           UnknownName("shape", token(1).text, kShapeNames));
    }
    const std::optional<Precision> precision = PrecisionOf(token(2).text);
    if (!precision) {
      return reader_.Error(
          token(2), fmt::format("unknown precision {}", Quoted(token(2).text)));
    }
    OperatorClass kind;
    kind.shape = static_cast<size_t>(shape - std::begin(kShapeNames));
    kind.precision = *precision;
    for (size_t i = 3; i < reader_.tokens().size(); ++i) {
      ASTRA_RETURN_IF_ERROR(ReadTrait(i, kind));
    }
    if ((kind.shape == kShapeOfStreams) == kind.name.empty()) {
      return reader_.ErrorAtEnd(
          "expected name=NAME for streams, and only them");
    }
    return kind;
  }

  absl::Status ReadTrait(size_t i, OperatorClass& kind) {
    constexpr std::string_view kName = "name=", kWindow = "window=";
    const std::string_view text = token(i).text;
    if (text == "grouped") {
      kind.grouped = true;
    } else if (text == "backward") {
      kind.backward = true;
    } else if (text == "bias") {
      kind.has_bias = true;
    } else if (text.starts_with(kName)) {
      kind.name = text.substr(kName.size());
    } else if (text.starts_with(kWindow)) {
      const absl::StatusOr<int64_t> window =
          ParseInteger("window", text.substr(kWindow.size()));
      if (!window.ok()) {
        return reader_.Error(token(i), std::string(window.status().message()));
      }
      kind.window = *window;
    } else {
      return reader_.Error(token(i), UnknownName("word", text,
                                                 {"grouped", "backward", "bias",
                                                  "window=N", "name=NAME"}));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<decltype(FittedClass::sizes)> ReadSizes() {
    decltype(FittedClass::sizes) sizes;
    ASTRA_RETURN_IF_ERROR(Expect("sizes", 1 + sizes.size()));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string_view text = token(i + 1).text;
      const size_t dots = text.find("..");
      const absl::StatusOr<int64_t> least =
          ParseInteger("size", text.substr(0, dots));
      const absl::StatusOr<int64_t> most = ParseInteger(
          "size", dots == std::string_view::npos ? "" : text.substr(dots + 2));
      if (!least.ok() || !most.ok() || *least > *most) {
        return reader_.Error(
            token(i + 1),
            fmt::format("{}: expected LEAST..MOST", Quoted(text)));
      }
      sizes[i] = {*least, *most};
    }
    Next();
    return sizes;
  }

  absl::StatusOr<Tree> ReadTree() {
    ASTRA_RETURN_IF_ERROR(Expect("tree", 2));
    ASTRA_ASSIGN_OR_RETURN(const int64_t nodes,
                           Integer(1, 1, kMaxNodes - nodes_));
    nodes_ += nodes;
    Tree tree;
    for (int64_t i = 0; i < nodes; ++i) {
      Next();
      if (at_end_) return reader_.ErrorAtEnd("expected a node of a tree");
      ASTRA_ASSIGN_OR_RETURN(const TreeNode node, ReadNode());
      tree.push_back(node);
    }
    Next();
    return tree;
  }

  absl::StatusOr<TreeNode> ReadNode() {
    constexpr size_t kWordsOfNode = 4;
    TreeNode node;
    const bool is_leaf = token(0).text == kLeafWord;
    ASTRA_RETURN_IF_ERROR(ExpectWords(is_leaf ? 2 : kWordsOfNode));
    ASTRA_ASSIGN_OR_RETURN(node.value, Float(1));
    if (is_leaf) return node;
    ASTRA_ASSIGN_OR_RETURN(const int64_t feature,
                           Integer(0, 0, kNumFittedFeatures - 1));
    ASTRA_ASSIGN_OR_RETURN(const int64_t below, Integer(2, 0, kMaxNodes));
    ASTRA_ASSIGN_OR_RETURN(const int64_t other, Integer(3, 0, kMaxNodes));
    node.feature = static_cast<int32_t>(feature);
    node.below = static_cast<int32_t>(below);
    node.other = static_cast<int32_t>(other);
    return node;
  }

  TextReader reader_;
  bool at_end_ = false;
  int64_t nodes_ = 0;  // Nodes that were read.
};

void AppendClass(const FittedClass& fitted, std::string* out) {
  AppendFormat(out, "class {}\nsamples {} error {}\nsizes",
               FormatClass(fitted.kind), fitted.num_samples, fitted.error);
  for (const SizeRange& range : fitted.sizes) {
    AppendFormat(out, " {}..{}", range.least, range.most);
  }
  AppendFormat(out, "\nstart {}\n", fitted.trees.start());
  for (const Tree& tree : fitted.trees.trees()) {
    AppendFormat(out, "tree {}\n", tree.size());
    for (const TreeNode& node : tree) {
      if (node.feature == TreeNode::kLeaf) {
        AppendFormat(out, "{} {}\n", kLeafWord, node.value);
      } else {
        AppendFormat(out, "{} {} {} {}\n", node.feature, node.value, node.below,
                     node.other);
      }
    }
  }
}

}  // namespace

std::string FormatClass(const OperatorClass& kind) {
  std::string text =
      fmt::format("{} {}", kShapeNames[kind.shape], Name(kind.precision));
  if (kind.grouped) text += " grouped";
  if (kind.backward) text += " backward";
  if (kind.has_bias) text += " bias";
  if (kind.window != 0) text += fmt::format(" window={}", kind.window);
  if (!kind.name.empty()) text += fmt::format(" name={}", kind.name);
  return text;
}

bool IsFittedOperators(std::string_view contents) {
  return contents.starts_with(kMagic);
}

std::string FormatFittedOperators(const FittedOperators& operators) {
  std::string out = fmt::format(
      "{} 1\ngpu {}\npeak_tflops {}\nmemory_gb_per_s {}\n", kMagic,
      operators.gpu, operators.peak_tflops, operators.memory_gb_per_s);
  for (const FittedClass& fitted : operators.classes) AppendClass(fitted, &out);
  return out;
}

absl::StatusOr<FittedOperators> ParseFittedOperators(
    std::string_view file, std::string_view contents) {
  return FittedParser(file, contents).Parse();
}

}  // namespace astra
