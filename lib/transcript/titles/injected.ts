// Every expression runs in linear time.
import { programCommands } from "#common/evidence/trivial";

export type Typed = {
  text: string;
  command?: { name: string; given: string };
  /** The next message is the command's expansion, which nobody typed. */
  isExpanded?: true;
};

const nothing: Typed = { text: "" };

/** Blocks that contain typed text; all other blocks are dropped. */
const typedIn = new Set([
  "user_query",
  "user_message",
  "user_request",
  "userrequest",
  "task",
  "teammate-message",
  "feedback",
  "prompt",
  "answer",
]);
const ofAgents = new Set([
  "attachments",
  "context",
  "reminder",
  "rules",
  "instructions",
  "attachment",
  "skill",
  "memory",
  "timestamp",
]);
/** Agents use camel case, HTML does not. */
const isAgentName = (name: string) =>
  /[_-]/.test(name) || /^[a-z]+[A-Z]/.test(name) || ofAgents.has(name.toLowerCase()) || typedIn.has(name.toLowerCase());

/** The text after these blocks is the agent's, too. */
const addedWhole = /^\s*<(?:task-notification|local-command-|bash-(?:stdout|stderr|input))/;

const added =
  /^(?:Caveat: The messages below were generated|\[Request interrupted by user|\[Request cancelled|\[?Image(?: #\d+)?: |\[Image #?\d*\]\s*$|# AGENTS\.md instructions for |Base directory for this skill: |This is the Gemini CLI\. We are setting up|System: \[|Warmup\s*$|No response requested\.|The user (?:just )?(?:ran|selected|opened|doesn't want to proceed)\b|Called the \w+ tool with|Result of calling the \w+ tool|Stop hook feedback:|\[SYSTEM\b|--- CONTEXT ENTRY BEGIN ---|Please continue the conversation from where we left|\{"type":"tool_result")/;

const continued = /^This session is being continued from a previous conversation/;
const intent = /Primary Request[^:\n]{0,40}:\**\s*([^\n]{3,400}(?:\n[^\n]{0,400}){0,3})/;
const byUser =
  /^the user(?:'s|s)? (?:(?:explicit(?:ly)?|initial(?:ly)?|primary|main|overall) )*(?:(?:requests?|goal|task|intent)(?: (?:was|were|is|are))?|asked(?: me)?|wants?|wanted|requested)(?: to| that)?\s*:?\s*/i;

const requestHeading = /^##? My request for [^\n:]{1,40}:[ \t]*\n/m;

/** Marks another speaker's words in a session that was made from a transcript. */
const transcript = /^_\*\*(?:Agent|User)\b/m;

export function readTyped(raw: string): Typed {
  const called = readEcho(raw);
  if (called) return called;
  if (addedWhole.test(raw)) return nothing;
  let text = withoutBlocks(raw);
  const request = requestHeading.exec(text);
  if (request) text = text.slice(request.index + request[0].length);
  text = text.replace(/^User provided an image \([\w/.+-]{1,40}\)\.?/, "");
  text = text.replace(/\[(?:Image|Pasted text|Attachment|File)[ #:][^\]\n]{0,200}\]/g, " ").trim();
  const other = transcript.exec(text);
  if (other) text = text.slice(0, other.index).trim();
  if (continued.test(text)) return nothing;
  if (text === "" || added.test(text)) return nothing;
  return readSlash(text) ?? { text };
}

export function continuedIntent(raw: string): string | undefined {
  const text = raw.trimStart();
  const about = continued.test(text) ? intent.exec(text)?.[1]?.trim() : undefined;
  const rest = about?.replace(byUser, "").replace(/^\s*(?:[-*•]|\d+\.)\s+/, "");
  if (!rest || rest === about) return about;
  const [line = "", ...more] = rest.split("\n");
  const said = /^"([^"]+)"\.?$/.exec(line.trim())?.[1] ?? line;
  return [said.charAt(0).toUpperCase() + said.slice(1), ...more].join("\n");
}

const commandName = /<command-name>([^<\r\n]*)<\/command-name>/;
const commandArguments = /<command-args>([^<]*)<\/command-args>/;
const echoStart = /^\s*<command-(name|message)>/;
const messageStart = /^\s*<command-message>\s*([\w:.-]{1,100})/;

function readEcho(raw: string): Typed | undefined {
  const [, first] = echoStart.exec(raw) ?? [];
  if (!first) return undefined;
  const name = (commandName.exec(raw)?.[1]?.trim() || messageStart.exec(raw)?.[1]) ?? "";
  const given = commandArguments.exec(raw)?.[1]?.trim() ?? "";
  return {
    text: "",
    command: { name: name.replace(/^\//, ""), given },
    ...(first === "message" && { isExpanded: true as const }),
  };
}

const slash = /^\/([a-z][\w:-]{0,60})(?:[ \t]+([^\n]*))?(?:\n|$)/i;

function readSlash(text: string): Typed | undefined {
  const [all, name, given = ""] = slash.exec(text) ?? [];
  if (all === undefined || !name) return undefined;
  const rest = text.slice(all.length).trim();
  return { text: "", command: { name, given: [given.trim(), rest].filter(Boolean).join("\n") } };
}

/** A title of which nobody typed a word. */
export function isEcho(title: string): boolean {
  const { text, command } = readTyped(title);
  return command ? isProgramCommand(command.name) : text === "";
}

/** It says nothing about the session's subject. */
export const isProgramCommand = (name: string): boolean => programCommands.has(name.toLowerCase());

const opening = /<([a-zA-Z][\w-]{1,60})(?:\s[^<>]{0,500})?>/g;

const max = { tags: 200, depth: 2 };

function withoutBlocks(raw: string, depth = 0): string {
  let [text, at] = ["", 0];
  for (let [found, seen] = [next(raw, at), 0]; found && seen < max.tags; found = next(raw, at), seen += 1) {
    const [tag, name = ""] = found;
    const start = found.index;
    const close = `</${name}>`;
    const end = raw.indexOf(close, start + tag.length);
    if (!isAgentName(name) || (end === -1 && !/^(?:system-reminder|environment_context)$/.test(name))) {
      text += raw.slice(at, start + tag.length);
      at = start + tag.length;
      continue;
    }
    text += raw.slice(at, start);
    if (end === -1) return text.trim();
    if (typedIn.has(name.toLowerCase()) && depth < max.depth)
      text += `\n${withoutBlocks(raw.slice(start + tag.length, end), depth + 1)}\n`;
    at = end + close.length;
  }
  return (text + raw.slice(at)).trim();
}

function next(raw: string, at: number): RegExpExecArray | null {
  opening.lastIndex = at;
  return opening.exec(raw);
}
