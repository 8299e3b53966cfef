// Writes values in the format of Python's pickle module, protocol 4, for files
// that Python programs load: dictionaries, lists, texts, whole numbers,
// booleans and None.
//
//   PickleWriter pickle;
//   pickle.BeginDict().Text("sizes").BeginList().Integer(1).EndList().EndDict();
//   std::string file = std::move(pickle).Finish();
//
// Only opcodes are written that PyTorch's memory viewer reads, too, and lists
// grow by at most kBatch items at once, as Python writes them: JavaScript
// cannot take many more.
//
// Source: Python's Lib/pickletools.py, the description of the opcodes.

#ifndef ASTRA_CORE_BASE_PICKLE_WRITER_H_
#define ASTRA_CORE_BASE_PICKLE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

class PickleWriter {
 public:
  static constexpr size_t kBatch = 1000;

  PickleWriter();

  // Between the two of a dictionary keys and values take turns.
  PickleWriter& BeginDict();
  PickleWriter& EndDict();
  PickleWriter& BeginList();
  PickleWriter& EndList();

  // Writes a text, which must be valid UTF-8 below 4 GiB. A text that was
  // written before takes a few bytes.
  PickleWriter& Text(std::string_view text);
  PickleWriter& Integer(int64_t value);
  PickleWriter& Bool(bool value);
  PickleWriter& None();

  // Gives the dictionary or list that has just ended a number, with which
  // Again() writes the same object once more.
  uint32_t Remember();
  PickleWriter& Again(uint32_t number);

  // Returns the file. Requires that one value was written.
  std::string Finish() &&;

 private:
  struct Open {
    bool is_dict = false;
    size_t items = 0;  // In the present batch; keys count as well.
  };

  // Makes room for a value in the dictionary or list that is open.
  void BeginItem();
  void EndBatch();
  void Begin(bool is_dict);
  void End();
  // Writes the `count` low bytes of `value`, the lowest first.
  void Bytes(uint64_t value, int count);

  std::string text_;
  std::vector<Open> open_;
  std::map<std::string, uint32_t, std::less<>> texts_;
  uint32_t num_remembered_ = 0;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_PICKLE_WRITER_H_
