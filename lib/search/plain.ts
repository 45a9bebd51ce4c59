const wrappers =
  /<\/?(?:details|summary|tool-use|think|thinking|command-\w+|local-command-\w+|bash-\w+|system-reminder|task-notification|tool_use_error|user-prompt-submit-hook|ide_\w+|environment_context|user_instructions|br|sub|sup)(?:\s[^<>]*)?\/?>/gi;
const summaries = /<summary>\s*Thought Process\s*<\/summary>/gi;
const wrapperPart =
  /^[^<>]*(?:data-tool-name="[^"]*"|<\/?(?:details|summary|tool-use))>|<\/?(?:details|summary|tool-use|think)\b[^<>]*$/g;
const lineNumbers = /^[ \t]*\d{1,6}(?:→|│|[ \t]\|)[ \t]?/gm;
const fences = /^[ \t]*(?:```|~~~)[^\n]*$/gm;
const rules = /^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$/gm;
const headings = /^[ \t]*(?:#{1,6}|>)[ \t]+/gm;
const links = /!?\[([^\]\n]{0,300})\]\([^)\s]{0,1000}\)/g;
const toolUse = /\bTool use:[ \t]*\*\*[^*\n]{0,128}\*\*[ \t]*/g;
/** Excludes the `**` of glob patterns. */
const emphasis = /\*\*(?![/*])(?<!\/\*\*)/g;
const ticks = /`+/g;
const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*[A-Za-z]`, "g");

export function plainText(text: string): string {
  return text
    .replace(summaries, " ")
    .replace(wrappers, " ")
    .replace(wrapperPart, " ")
    .replace(toolUse, "")
    .replace(lineNumbers, "")
    .replace(fences, " ")
    .replace(rules, " ")
    .replace(headings, "")
    .replace(links, "$1")
    .replace(emphasis, "")
    .replace(ticks, "")
    .replace(colours, "")
    .toWellFormed()
    .replaceAll("\ufffd", "")
    .replace(/\s+/g, " ")
    .trim();
}
