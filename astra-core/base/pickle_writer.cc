#include "astra-core/base/pickle_writer.h"

#include <limits>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Opcodes by Python's names.
constexpr char kProto = '\x80';
constexpr char kStop = '.';
constexpr char kMark = '(';
constexpr char kEmptyDict = '}';
constexpr char kEmptyList = ']';
constexpr char kSetItems = 'u';
constexpr char kAppends = 'e';
constexpr char kShortText = '\x8c';  // SHORT_BINUNICODE
constexpr char kLongText = 'X';      // BINUNICODE
constexpr char kMemoize = '\x94';
constexpr char kGet = 'h';      // BINGET
constexpr char kLongGet = 'j';  // LONG_BINGET
constexpr char kInt1 = 'K';     // BININT1
constexpr char kInt2 = 'M';     // BININT2
constexpr char kInt4 = 'J';     // BININT
constexpr char kLong = '\x8a';  // LONG1
constexpr char kTrue = '\x88';
constexpr char kFalse = '\x89';
constexpr char kNone = 'N';

constexpr int kBitsPerByte = 8;
constexpr int64_t kMostByte = std::numeric_limits<uint8_t>::max();
constexpr char kProtocol = 4;

}  // namespace

PickleWriter::PickleWriter() {
  text_ += kProto;
  text_ += kProtocol;
}

PickleWriter& PickleWriter::BeginDict() {
  Begin(/*is_dict=*/true);
  return *this;
}

PickleWriter& PickleWriter::EndDict() {
  End();
  return *this;
}

PickleWriter& PickleWriter::BeginList() {
  Begin(/*is_dict=*/false);
  return *this;
}

PickleWriter& PickleWriter::EndList() {
  End();
  return *this;
}

PickleWriter& PickleWriter::Text(std::string_view text) {
  const auto found = texts_.find(text);
  if (found != texts_.end()) return Again(found->second);
  BeginItem();
  if (text.size() <= static_cast<size_t>(kMostByte)) {
    text_ += kShortText;
    Bytes(text.size(), 1);
  } else {
    text_ += kLongText;
    Bytes(text.size(), 4);
  }
  text_ += text;
  texts_.emplace(text, Remember());
  return *this;
}

PickleWriter& PickleWriter::Integer(int64_t value) {
  BeginItem();
  const auto bits = static_cast<uint64_t>(value);
  if (value >= 0 && value <= kMostByte) {
    text_ += kInt1;
    Bytes(bits, 1);
  } else if (value >= 0 && value <= std::numeric_limits<uint16_t>::max()) {
    text_ += kInt2;
    Bytes(bits, 2);
  } else if (value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max()) {
    text_ += kInt4;
    Bytes(bits, 4);
  } else {
    text_ += kLong;
    Bytes(sizeof(bits), 1);
    Bytes(bits, sizeof(bits));
  }
  return *this;
}

PickleWriter& PickleWriter::Bool(bool value) {
  BeginItem();
  text_ += value ? kTrue : kFalse;
  return *this;
}

PickleWriter& PickleWriter::None() {
  BeginItem();
  text_ += kNone;
  return *this;
}

uint32_t PickleWriter::Remember() {
  text_ += kMemoize;
  return num_remembered_++;
}

PickleWriter& PickleWriter::Again(uint32_t number) {
  BeginItem();
  const bool is_short = number <= kMostByte;
  text_ += is_short ? kGet : kLongGet;
  Bytes(number, is_short ? 1 : 4);
  return *this;
}

std::string PickleWriter::Finish() && {
  ASTRA_CHECK(open_.empty(), "{} lists are open", open_.size());
  text_ += kStop;
  return std::move(text_);
}

void PickleWriter::BeginItem() {
  if (open_.empty()) return;
  Open& open = open_.back();
  if (open.items == (open.is_dict ? 2 * kBatch : kBatch)) EndBatch();
  if (open.items++ == 0) text_ += kMark;
}

void PickleWriter::EndBatch() {
  Open& open = open_.back();
  if (open.items > 0) text_ += open.is_dict ? kSetItems : kAppends;
  open.items = 0;
}

void PickleWriter::Begin(bool is_dict) {
  BeginItem();
  text_ += is_dict ? kEmptyDict : kEmptyList;
  open_.push_back({.is_dict = is_dict});
}

void PickleWriter::End() {
  EndBatch();
  open_.pop_back();
}

void PickleWriter::Bytes(uint64_t value, int count) {
  for (int i = 0; i < count; ++i) {
    text_ += static_cast<char>(value >> (kBitsPerByte * i) & kMostByte);
  }
}

}  // namespace astra
