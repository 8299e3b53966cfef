#include "astra-core/apps/growing_file.h"

#include <exception>
#include <utility>

namespace astra {

GrowingFile::GrowingFile(std::string path, std::string header)
    : path_(std::move(path)), header_(std::move(header)) {}

GrowingFile::~GrowingFile() {
  if (std::uncaught_exceptions() > 0) Remove();  // Memory has run out.
  if (file_ != nullptr) std::fclose(file_);
}

void GrowingFile::Add(std::string_view line) {
  if (file_ == nullptr) {
    file_ = std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr) return;
    Put(header_);
  }
  Put(line);
  std::fflush(file_);
}

void GrowingFile::Remove() {
  if (file_ != nullptr) std::remove(path_.c_str());
}

void GrowingFile::Put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file_);
}

}  // namespace astra
