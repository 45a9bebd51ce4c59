import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeNotice, toNotices } from "../messages.ts";
import { asFields, asString, joinTexts, listFields, toWords } from "../values.ts";

/** Most of these events are no longer written, or never were by a released version. */
const skippedEvents = toWords(`
  agent_message_delta agent_message_content_delta agent_reasoning_delta agent_reasoning_raw_content_delta
  agent_reasoning_section_break reasoning_content_delta reasoning_raw_content_delta exec_command_begin exec_command_output_delta
  exec_command_end terminal_interaction patch_apply_begin patch_apply_updated patch_apply_end mcp_tool_call_begin mcp_tool_call_end
  mcp_list_tools_response web_search_begin web_search_end view_image_tool_call image_generation_begin image_generation_end
  task_started task_complete turn_started turn_complete context_compacted turn_diff plan_update plan_delta session_configured
  background_event exited_review_mode item_started item_completed undo_started undo_completed raw_response_item
  dynamic_tool_call_request dynamic_tool_call_response sub_agent_activity collab_agent_spawn_begin collab_agent_spawn_end
  collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin collab_waiting_end collab_close_begin
  collab_close_end collab_resume_begin collab_resume_end mcp_startup_update mcp_startup_complete exec_approval_request
  apply_patch_approval_request request_user_input request_permissions elicitation_request guardian_assessment thread_goal_updated
  thread_goal_cleared shutdown_complete hook_started get_history_entry_response list_custom_prompts_response list_skills_response
  skills_update_available safety_buffering model_verification turn_moderation_metadata realtime_conversation_started
  realtime_conversation_sdp realtime_conversation_realtime realtime_conversation_closed realtime_conversation_list_voices_response
  conversation_path list_remote_skills_response remote_skill_downloaded ask_user_question_request`);

export function readNotices(event: Fields, unhandled: Unhandled): Message[] {
  const type = asString(event.type) ?? "(none)";
  switch (type) {
    case "error":
    case "stream_error":
    case "warning":
    case "guardian_warning":
      return toNotices(event.message);
    case "deprecation_notice":
      return toNotices(joinTexts([event.summary, event.details]));
    case "model_reroute":
      return toNotices(`The model ${event.from_model} was replaced by ${event.to_model}.`);
    case "thread_rolled_back":
      return [makeNotice(describeRollback(event.num_turns))];
    case "entered_review_mode":
      return toNotices(joinTexts(["Review", event.user_facing_hint], ": "));
    case "hook_completed":
      return toNotices(readHookText(event.run));
    default:
      if (!skippedEvents.has(type)) unhandled(`event_msg.${type}`);
      return [];
  }
}

const describeRollback = (turns: unknown): string =>
  turns === 1 ? "The last turn was taken back." : `The last ${Number(turns)} turns were taken back.`;

function readHookText(run: unknown): string {
  const { status_message: status, entries } = asFields(run);
  const texts = listFields(entries).map(({ text }) => text);
  return joinTexts([status, ...texts]);
}

export function readStartedAgent(event: Fields): { callId: string; session: string } | undefined {
  const about = event.type === "item_completed" && isFields(event.item) ? event.item : event;
  const [callId, session] = readStart(about).map(asString);
  return callId && session ? { callId, session } : undefined;
}

function readStart(about: Fields): [callId?: unknown, session?: unknown] {
  switch (about.type) {
    case "collab_agent_spawn_end":
      return [about.call_id, about.new_thread_id];
    case "sub_agent_activity":
      return about.kind === "started" ? [about.event_id, about.agent_thread_id] : [];
    case "SubAgentActivity":
      return about.kind === "started" ? [about.id, about.agent_thread_id] : [];
    default:
      return [];
  }
}
