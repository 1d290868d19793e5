#include "dialect/document_reader.h"

#include <algorithm>

#include "base/try.h"

namespace quipu::dialect {
namespace {

std::string_view from_to(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

Result<Document> Document::parse(std::string text, std::string_view list) {
  Document document;
  document.text_ = std::make_unique<std::string>(std::move(text));
  const std::string_view whole = *document.text_;
  document.head_ = whole;
  if (!json::validate(whole).ok() && !json::validate(json::scrubbed(whole)).ok()) {
    return Error(Code::kInvalidArgument, "no JSON document");
  }
  json::Cursor cursor(whole.substr(std::min(whole.find_first_not_of(" \t\r\n"), whole.size())));
  std::string_view array;
  if (list.empty()) {
    array = cursor.take();
  } else {
    std::string_view key;
    for (cursor.enter(); cursor.next_member(key);) {
      const std::string_view value = cursor.take();
      if (json::key_equals(key, list)) array = value;
    }
  }
  document.tail_ = whole.substr(whole.size());
  if (!array.starts_with('[')) return document;
  json::ElementWalk walk(array);
  while (const auto element = walk.next()) document.elements_.push_back(element->value);
  if (document.elements_.empty()) return document;
  document.head_ = from_to(whole.data(), document.elements_.front().data());
  const std::string_view behind =
      from_to(array.data() + array.size() - 1, whole.data() + whole.size());
  if (behind.find(',') != std::string_view::npos) document.tail_ = behind;
  return document;
}

Result<std::string> read_document(fs::HostFile& file) {
  const fs::HostStat stat = file.stat();
  if (stat.size > kDocumentBytesMax) {
    return Error(Code::kTooLarge, "a document of " + std::to_string(stat.size) + " bytes");
  }
  std::string text(stat.size, '\0');
  TRY_ASSIGN(const std::size_t got, file.read_at(std::span(text), 0));
  text.resize(got);
  return text;
}

DocumentReader::DocumentReader(Document document, Outline outline, LineReader::Describe describe)
    : document_(std::move(document)),
      outline_(std::move(outline)),
      describe_(std::move(describe)) {}

Result<bool> DocumentReader::next(Record& record) {
  const auto& elements = document_.elements();
  const bool is_tail = at_ == elements.size() + 1 && !document_.tail().empty();
  if (at_ > elements.size() && !is_tail) return false;
  record = Record();
  if (at_ == 0 || is_tail) {
    record.bytes = is_tail ? document_.tail() : document_.head();
    record.end = {};
    record.kind = is_tail ? "tail" : "head";
    record.is_fact = true;
  } else {
    record.bytes = elements[at_ - 1];
    const char* behind = record.bytes.data() + record.bytes.size();
    record.end =
        from_to(behind, at_ < elements.size() ? elements[at_].data() : document_.tail().data());
    describe(record);
  }
  ++at_;
  return true;
}

void DocumentReader::describe(Record& record) {
  if (json::scan_line(record.bytes, members_).ok()) {
    record.is_line = true;
  } else if (!json::scan_object(record.bytes, members_).ok()) {
    scrubbed_ = json::scrubbed(record.bytes);
    if (!json::scan_object(scrubbed_, members_).ok()) {
      record.kind = "raw";
      record.is_fact = true;
      record.problem = "not_an_object";
      return;
    }
    record.problem = "not_strict";
  }
  describe_(Fields(members_), record);
}

}  // namespace quipu::dialect
