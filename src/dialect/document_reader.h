// DocumentReader: a source that is one JSON document with a list in it, such as
// `{"sessionId": …, "messages": [ … ]}` or a bare array.
//
// The elements of the list are records. What stands before the first is a fact of
// kind "head"; what stands behind an element is its `end`; members behind the list are a
// fact of kind "tail", from the end of the list on. Such files are written anew by their
// agents, whole.
//
// Memory: the document. One of more than kDocumentBytesMax is a single record, too
// large to be understood, and kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dialect/line_reader.h"

namespace quipu::dialect {

inline constexpr std::size_t kDocumentBytesMax = std::size_t{48} << 20;

/// The text of a document and where its list lies.
class Document {
 public:
  /// `list`: the member that is the list; empty: the document itself. A document
  /// without it has no elements. `invalid_argument` when it is no JSON.
  static Result<Document> parse(std::string text, std::string_view list);

  const std::string& text() const { return *text_; }
  std::string_view head() const { return head_; }
  const std::vector<std::string_view>& elements() const { return elements_; }
  std::string_view tail() const { return tail_; }

 private:
  std::unique_ptr<std::string> text_;  // stays where it is when this moves
  std::string_view head_;              // up to the first element; all of it if there is none
  std::vector<std::string_view> elements_;
  // From the bracket that ends the list on, when members follow; else the end of the text.
  std::string_view tail_;
};

/// The whole of a file; `too_large` above kDocumentBytesMax.
Result<std::string> read_document(fs::HostFile& file);

class DocumentReader : public Reader {
 public:
  DocumentReader(Document document, Outline outline, LineReader::Describe describe);

  const Outline& outline() const override { return outline_; }
  Result<bool> next(Record& record) override;
  ReadPosition position() const override { return {}; }
  bool is_whole() const override { return true; }

 private:
  void describe(Record& record);

  Document document_;
  Outline outline_;
  LineReader::Describe describe_;
  std::size_t at_ = 0;  // 0: the head
  std::vector<json::Member> members_;
  std::string scrubbed_;
};

}  // namespace quipu::dialect
