import { toWords } from "../values.ts";

// Names that are not listed here are counted as unhandled.
export const skippedTypes = toWords(`
  agent-color agent-setting api-request api-request-blob api-request-shape artifact-autoreact-ledger artifact-comment-monitor atis-latch attribution-snapshot bridge-session
  checkpoint content-replacement context-collapse-commit ended-by-model file-history-delta file-history-snapshot
  fork-context-ref frame-link history-suppression isolation-latch last-prompt marble-origami-commit marble-origami-reset
  marble-origami-snapshot mode observer-ref progress speculation-accept tag task-summary teleported-from
  tools-used worktree-state`);

/** Newer versions write what was sent to the model between the conversation's lines. */
const requestLine =
  /^\{(?:"type":"(?:api-request(?:-blob|-shape)?|tools-used)"|"parentUuid":(?:null|"[\w-]{1,64}"),"isSidechain":(?:true|false),"attachment":\{"type":"prompt_snapshot"),/;

const beginningBytes = 160;
const [opening, closing] = [0x7b, 0x7d];

/** Most bytes of newer files are such lines. Another record may follow on the same line. */
export const isRequestLine = (line: Buffer): boolean =>
  line[0] === opening &&
  line[line.length - 1] === closing &&
  requestLine.test(line.toString("latin1", 0, beginningBytes)) &&
  !line.includes('}{"') &&
  // A text of fewer than eight bytes is found in half the time.
  !(line.includes('{"par', 1) && line.includes('{"parentUuid":', 1));

export const systemTypes = toWords(`
  agents_killed api_error api_metrics away_summary bridge_status compact_boundary informational local_command memory_saved
  microcompact_boundary model_consent_fallback model_refusal_fallback model_refusal_no_fallback permission_retry
  scheduled_task_fire stop_hook_summary turn_duration`);

export const fileTypes = toWords("already_read_file directory file image mcp_resource pdf_reference");

export const contextTypes = toWords(`
  agent_listing_delta agent_mention auto_mode auto_mode_exit autocheckpointing background_task_status budget_usd command_permissions
  compact_file_reference compaction_reminder companion_intro context_efficiency critical_system_reminder date date_change
  deferred_tools_delta deferred_tools_record diagnostics directory_listing dynamic_skill edited_image_file edited_text_file
  environment goal_status hook_cancelled hook_deferred_tool hook_permission_decision instructions invoked_skills
  max_turns_reached mcp_instructions_delta memory_update model nested_memory opened_file_in_ide output_style
  output_style_instructions output_token_usage plan_file_reference plan_mode plan_mode_exit plan_mode_reentry prompt_snapshot
  read_truncation_notice relevant_memories remote_session_change selected_lines_in_ide session_context silent_turn_reminder
  skill_listing structured_output task_reminder task_status thinking_stripped todo_reminder token_usage total_tokens_reminder
  ultra_effort_enter ultra_effort_exit ultrathink_effort unified_tasks verify_plan_reminder workflow_size_guideline_change`);
