// Where an agent and Quipu are known to differ, and why that is right. A run fails when
// something else differs, and when one of these no longer does.
const kTests = "codex/jazzyalex+agent-sessions__Resources_Fixtures_";
const kParser = "codex/kenn-io+agentsview__internal_parser_testdata_";

/// By `<agent> <what>: <name>`, as a run names them.
export const expected = new Map([
  [`codex read: ${kTests}codex_051_usage.jsonl`, "its id is no UUID, and nobody says anything in it: Codex does not list it"],
  [`codex read: ${kTests}codex_053_rate_limit.jsonl`, "its id is no UUID, and nobody says anything in it: Codex does not list it"],
  [`codex read: ${kParser}codex_fc_args_1.jsonl`, "its header has neither a UUID nor a time: Codex reads no such file"],
  [`codex read: ${kParser}codex_fc_stdin.jsonl`, "its header has neither a UUID nor a time: Codex reads no such file"],
  [`codex read: ${kParser}traex_rollout_subagent.jsonl`, "of a program made from Codex: its prompts have `local_images: null`, which Codex does not read, and lists no thread without a prompt"],
]);
