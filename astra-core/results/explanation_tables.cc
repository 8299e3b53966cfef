#include "astra-core/results/explanation_tables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "astra-core/engine/breakdown.h"

namespace astra {
namespace {

constexpr std::string_view kBreakdownFile = "breakdown.csv";
constexpr std::string_view kPathFile = "critical_path.csv";

struct PartRow {
  const RankResult& rank;
  const TimePart& part;
  const SimulationResult& result;
};

constexpr Column<PartRow> kBreakdown[] = {
    {"stage", "", "of the pipeline; 0 of a trace",
     [](const PartRow& row, std::string* text) {
       AppendInteger(row.rank.stage, text);
     }},
    {"rank", "", "lowest of the ranks that do the same",
     [](const PartRow& row, std::string* text) {
       AppendInteger(row.rank.rank.index(), text);
     }},
    {"ranks", "", "how many they are",
     [](const PartRow& row, std::string* text) {
       AppendInteger(row.rank.count, text);
     }},
    {"category", "",
     "compute; slowed by collectives; network, late: waiting for a collective, "
     "until its last rank had joined: late; transfer, bubble: the same of "
     "messages; host: waiting for the CPU or copies; idle at the end",
     [](const PartRow& row, std::string* text) {
       *text += Name(row.part.category);
     }},
    {"group", "", "of what is waited for: TP, DP, ... PP",
     [](const PartRow& row, std::string* text) {
       if (row.part.dimension) *text += Name(*row.part.dimension);
     }},
    {"collective", "", "of what is waited for",
     [](const PartRow& row, std::string* text) {
       if (row.part.dimension) *text += Name(row.part.kind);
     }},
    {"name", "", "module, or pipeline for messages; of a trace the node",
     [](const PartRow& row, std::string* text) {
       if (!row.part.layer) return;
       AppendField(row.result.layer_names[row.part.layer->index()], text);
     }},
    {"phase", "", "fwd, ig or wg",
     [](const PartRow& row, std::string* text) {
       if (row.part.layer) *text += Name(row.part.phase);
     }},
    {"time_us", "us", "all lines of one rank add up to the iteration",
     [](const PartRow& row, std::string* text) {
       AppendUs(row.part.time, text);
     }},
    {"share", "", "of the iteration",
     [](const PartRow& row, std::string* text) {
       AppendNumber(static_cast<double>(row.part.time.count()) /
                        static_cast<double>(row.result.total().count()),
                    6, text);
     }},
};

struct PathRow {
  const PathPiece& piece;
  TimePs start;  // Since the start of the iteration.
  const SimulationResult& result;
};

const RankResult& RankOf(const PathRow& row) {
  return row.result.ranks[row.piece.rank];
}

// Returns the communication of a piece; null for computations.
const Communication* CommunicationOf(const PathRow& row) {
  if (row.piece.record == PathPiece::kNoRecord) return nullptr;
  return &row.result.collectives[row.piece.record].communication;
}

// Appends a number of a micro-batch or chunk; nothing if there is none.
void AppendNumberOrNothing(int32_t number, std::string* text) {
  if (number >= 0) AppendInteger(number, text);
}

constexpr Column<PathRow> kPath[] = {
    {"start_us", "us", "in the iteration, the first time",
     [](const PathRow& row, std::string* text) { AppendUs(row.start, text); }},
    {"time_us", "us", "once; all lines x repeats add up to the iteration",
     [](const PathRow& row, std::string* text) {
       AppendUs(row.piece.end - row.piece.begin, text);
     }},
    {"repeats", "", "how often the line counts",
     [](const PathRow& row, std::string* text) {
       AppendInteger(row.piece.repeats, text);
     }},
    {"stage", "", "of the pipeline; 0 of a trace",
     [](const PathRow& row, std::string* text) {
       AppendInteger(RankOf(row).stage, text);
     }},
    {"rank", "", "lowest of the ranks that do the same",
     [](const PathRow& row, std::string* text) {
       AppendInteger(RankOf(row).rank.index(), text);
     }},
    {"kind", "", "compute, collective, message, or host: the CPU or a copy",
     [](const PathRow& row, std::string* text) {
       *text += Name(row.piece.kind);
     }},
    {"name", "", "module, or pipeline for messages; of a trace the node",
     [](const PathRow& row, std::string* text) {
       AppendField(row.result.layer_names[row.piece.layer.index()], text);
     }},
    {"phase", "", "fwd, ig or wg",
     [](const PathRow& row, std::string* text) {
       *text += Name(row.piece.phase);
     }},
    {"chunk", "", "of the stage; empty outside of micro-batches",
     [](const PathRow& row, std::string* text) {
       AppendNumberOrNothing(row.piece.chunk, text);
     }},
    {"micro_batch", "", "of those that were run, from 0",
     [](const PathRow& row, std::string* text) {
       AppendNumberOrNothing(row.piece.micro_batch, text);
     }},
    {"group", "", "TP, DP, ... or PP; empty for computations",
     [](const PathRow& row, std::string* text) {
       if (const auto* what = CommunicationOf(row)) {
         *text += Name(what->dimension);
       }
     }},
    {"collective", "", "empty for computations",
     [](const PathRow& row, std::string* text) {
       if (const auto* what = CommunicationOf(row)) *text += Name(what->kind);
     }},
    {"bytes", "B", "as in collectives.csv",
     [](const PathRow& row, std::string* text) {
       if (const auto* what = CommunicationOf(row)) {
         AppendInteger(what->bytes.count(), text);
       }
     }},
};

// Returns whether two successive pieces share a line of the file.
bool IsOneLine(const PathPiece& a, const PathPiece& b) {
  const auto what = [](const PathPiece& piece) {
    return std::tuple(piece.rank, piece.kind, piece.layer, piece.phase,
                      piece.chunk, piece.micro_batch, piece.record,
                      piece.repeats);
  };
  return what(a) == what(b);
}

}  // namespace

std::string BreakdownCsv(const SimulationResult& result) {
  std::string text = HeaderOf<PartRow>(kBreakdown);
  for (const RankResult& rank : result.ranks) {
    for (const TimePart& part : TimePartsOf(rank, result)) {
      AppendRow<PartRow>(kBreakdown, {rank, part, result}, &text);
    }
  }
  return text;
}

std::string CriticalPathCsv(absl::Span<const PathPiece> path,
                            const SimulationResult& result) {
  std::string text = HeaderOf<PathRow>(kPath);
  TimePs left_out;  // Skipped time before the present piece.
  for (size_t i = 0; i < path.size();) {
    PathPiece line = path[i];
    const TimePs start = line.begin + left_out;
    for (; i < path.size() && IsOneLine(line, path[i]); ++i) {
      line.end = path[i].end;
      left_out += path[i].time() - (path[i].end - path[i].begin);
    }
    AppendRow<PathRow>(kPath, {line, start, result}, &text);
  }
  return text;
}

void AppendExplanationColumns(std::vector<ColumnText>* texts) {
  AppendTexts<PartRow>(kBreakdownFile, kBreakdown, texts);
  AppendTexts<PathRow>(kPathFile, kPath, texts);
}

}  // namespace astra
