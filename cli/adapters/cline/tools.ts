import { toWords } from "../values.ts";

const tools = toWords(`
  access_mcp_resource act_mode_respond apply_diff apply_patch ask_followup_question attempt_completion browser_action
  codebase_search condense edit_file execute_command fetch_instructions focus_chain generate_explanation generate_image
  insert_content list_code_definition_names list_files load_mcp_documentation new_rule new_task plan_mode_respond
  read_command_output read_file replace_in_file report_bug run_slash_command search_and_replace search_files summarize_task
  switch_mode update_todo_list use_mcp_tool use_skill web_fetch web_search write_to_file`);

export type Piece = { text: string } | { tool: string; input: Record<string, string> };

const openTag = /<([a-z_]+)>/g;

/** A call that was cut off keeps what it has. */
export function splitCalls(answer: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  openTag.lastIndex = 0;
  for (let match = openTag.exec(answer); match; match = openTag.exec(answer)) {
    const [tag, name = ""] = match;
    const begin = match.index + tag.length;
    if (!tools.has(name) || !/^\s*<\/?[a-z_]+>/.test(answer.slice(begin, begin + 200))) continue;
    const closing = answer.indexOf(`</${name}>`, begin);
    const end = closing === -1 ? answer.length : closing;
    const input = readParameters(answer.slice(begin, end), name);
    pieces.push({ text: answer.slice(from, match.index) }, { tool: name, input });
    from = closing === -1 ? answer.length : end + name.length + 3;
    openTag.lastIndex = from;
  }
  pieces.push({ text: answer.slice(from) });
  return pieces.filter((piece) => !("text" in piece) || piece.text.trim() !== "");
}

function readParameters(body: string, tool: string): Record<string, string> {
  const input: Record<string, string> = {};
  for (let at = 0; at < body.length; ) {
    const match = /<([a-z_]+)>/.exec(body.slice(at));
    if (!match) break;
    const [tag, name = ""] = match;
    const begin = at + match.index + tag.length;
    const close = `</${name}>`;
    const isFile = tool === "write_to_file" && name === "content";
    const found = isFile ? body.lastIndexOf(close) : body.indexOf(close, begin);
    const end = found < begin ? body.length : found;
    input[name] = body.slice(begin, end).trim();
    at = end + close.length;
  }
  return input;
}

/** A command or a question may have several lines. */
export const resultHead = /^\[([\w-]{1,256})(?: for [\s\S]*?|[^\n]*?)\] Result:\s*/;
