#include "quipu/result.h"

namespace quipu {

std::string_view name(Code code) {
  switch (code) {
    case Code::kNotFound:
      return "not_found";
    case Code::kTailMoved:
      return "tail_moved";
    case Code::kHeadMoved:
      return "head_moved";
    case Code::kFenced:
      return "fenced";
    case Code::kIdConflict:
      return "id_conflict";
    case Code::kPartialOverlap:
      return "partial_overlap";
    case Code::kUnknownParent:
      return "unknown_parent";
    case Code::kBadBatch:
      return "bad_batch";
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kTooLarge:
      return "too_large";
    case Code::kBusy:
      return "busy";
    case Code::kNoSpace:
      return "no_space";
    case Code::kNoMemory:
      return "no_memory";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kIoError:
      return "io_error";
    case Code::kDurabilityUnknown:
      return "durability_unknown";
    case Code::kStorageGone:
      return "storage_gone";
    case Code::kNotAllowed:
      return "not_allowed";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

bool retryable(Code code) {
  switch (code) {
    case Code::kBusy:
    case Code::kNoSpace:
    case Code::kNoMemory:
    // Through a handle opened anew: repeating the call is the one way to learn
    // what became of it, and the ids make that safe.
    case Code::kDurabilityUnknown:
      return true;
    // A program that repeats these unchanged would loop: either the answer is
    // the same for ever, or a person has to look after the storage first.
    case Code::kNotFound:
    case Code::kTailMoved:
    case Code::kHeadMoved:
    case Code::kFenced:
    case Code::kIdConflict:
    case Code::kPartialOverlap:
    case Code::kUnknownParent:
    case Code::kBadBatch:
    case Code::kInvalidArgument:
    case Code::kTooLarge:
    case Code::kCorrupt:
    case Code::kIoError:
    case Code::kStorageGone:
    case Code::kNotAllowed:
    case Code::kUnsupported:
    case Code::kInternal:
      return false;
  }
  return false;
}

namespace {

std::string_view default_hint(Code code) {
  switch (code) {
    case Code::kNotFound:
      return "Check the name.";
    case Code::kTailMoved:
      return "Somebody else appended first: read what is new, then append after the actual tail.";
    case Code::kHeadMoved:
      return "Somebody else moved the head first: look at the actual head, then decide again.";
    case Code::kFenced:
      return "Another run took the session over: stop this one, or begin a new run.";
    case Code::kIdConflict:
      return "This id is stored with other content: use a new id, or repeat the original bytes.";
    case Code::kPartialOverlap:
      return "Some of these entries are stored already: send the others as a batch of their own.";
    case Code::kUnknownParent:
      return "Append the parent first, or name as parentId an entry that this session can see.";
    case Code::kBadBatch:
      return "Ids must be unique within a batch, and parents must come before their children.";
    case Code::kInvalidArgument:
      return "Correct the argument that the message names.";
    case Code::kTooLarge:
      return "Split the batch, or keep large content outside the entry and refer to it.";
    case Code::kBusy:
      return "Another writer holds the session: wait a moment and repeat the call.";
    case Code::kNoSpace:
      return "Nothing was stored: free some space or raise the quota, then repeat the call.";
    case Code::kNoMemory:
      return "Nothing was stored: free some memory, then repeat the call.";
    case Code::kCorrupt:
      return "Run `quipu verify` to see what is damaged, then `quipu repair`; no byte is "
             "discarded.";
    case Code::kIoError:
      return "Nothing was acknowledged: check the disk and the kernel's log before going on.";
    case Code::kDurabilityUnknown:
      return "Check the disk, open the store again and repeat the call with the same ids.";
    case Code::kStorageGone:
      return "Mount the storage again, writable, then open the store again.";
    case Code::kNotAllowed:
      return "Check owner and permissions of the store's files.";
    case Code::kUnsupported:
      return "Use a newer Quipu, or a backend that has this feature.";
    case Code::kInternal:
      return "This is a defect of Quipu: please report it with this message; open the store again.";
  }
  return "Please report this error with its message.";
}

}  // namespace

std::string_view Error::hint() const { return hint_.empty() ? default_hint(code_) : hint_; }

}  // namespace quipu
