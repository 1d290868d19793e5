// Answers: the results of a transcript by the calls that they answer, for agents that
// keep a call and its result in one record.
//
// A call takes the first result of its id that no other call took. The transcript must
// outlive this.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "dialect/transcript.h"

namespace quipu::dialect {

struct Answer {
  const TranscriptMessage* message = nullptr;
  const Part* result = nullptr;  // null: the call was never answered
};

class Answers {
 public:
  explicit Answers(const Transcript& transcript);

  Answer take(const std::string& call_id);
  /// Reports the results that no call took.
  void report_rest(Written& written) const;

 private:
  std::unordered_map<std::string, std::deque<Answer>> by_call_;
};

/// What a result says in words. Attachments in it are reported: there is no place for them
/// in a text.
std::string words_of(const Answer& answer, Written& written);

/// What was used by both; of members nobody knows those of the last.
Usage sum_of(const Usage& one, const Usage& other);

/// The message has something that the other format has no place for.
void lose(Written& written, const TranscriptMessage& from, std::string what, std::string why);

/// An attachment as a file: its bytes, and the ending of its name (".png"). Nothing when
/// the transcript does not hold them.
struct AttachedFile {
  std::string bytes;
  std::string ending;
};
std::optional<AttachedFile> file_of(const Part& attachment);

}  // namespace quipu::dialect
