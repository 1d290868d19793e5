#include "recall/document_fact.h"

#include "base/try.h"
#include "recall/fact_json.h"

namespace quipu {

Result<KnowledgeDocument> read_knowledge_document(std::string_view json) {
  TRY_ASSIGN(const std::vector<json::Member> members, recall::read_members(json));
  KnowledgeDocument document;
  std::vector<json::Member> others;
  for (const json::Member& member : members) {
    if (member.key == "id") {
      TRY_ASSIGN(document.id, recall::read_text(member));
    } else if (member.key == "text") {
      TRY_ASSIGN(document.text, recall::read_text(member));
    } else if (member.key == "title") {
      TRY_ASSIGN(document.title, recall::read_text(member));
    } else if (member.key == "embedding") {
      TRY_ASSIGN(document.embedding, recall::read_embedding(member));
    } else if (member.key == "meta" && member.kind == json::Kind::kObject) {
      document.meta = member.value;
    } else if (member.key == "meta" && member.kind != json::Kind::kNull) {
      return Error(Code::kInvalidArgument, "meta is no object");
    } else if (member.key != "meta") {
      others.push_back(member);
    }
  }
  TRY(recall::check_has(members, "text"));
  TRY_ASSIGN(document.meta, recall::meta_with(document.meta, others));
  TRY(recall::check(document));
  return document;
}

std::string knowledge_document_json(const KnowledgeDocument& document) {
  std::string text;
  json::Writer out(text);
  out.begin_object()
      .member("id", document.id)
      .text_member("title", document.title)
      .member("text", document.text);
  recall::optional_raw(out, "meta", document.meta);
  recall::optional_embedding(out, document.embedding);
  out.end_object();
  return text;
}

}  // namespace quipu

namespace quipu::recall {

Result<void> check(const KnowledgeDocument& document) {
  TRY(check_id(document.id, "id"));
  TRY(check_text(document.text, "text"));
  TRY(check_text(document.title, "title"));
  TRY(check_meta(document.meta));
  return check_embedding(document.embedding);
}

}  // namespace quipu::recall
