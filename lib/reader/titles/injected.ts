// What of a user's message a person typed: agents, editors and hooks put much beside it. A text is at most 64 KiB here, and every
// expression takes time that grows with its length alone.
import { programCommands } from "#lib/evidence/trivial";

/** What a person typed, a command that was called, or neither. */
export type Typed = {
  text: string;
  /** The command without its slash, and what was given to it. */
  command?: { name: string; given: string };
  /** The next message is what the command stands for, and nobody typed it. */
  isExpanded?: true;
};

const nothing: Typed = { text: "" };

/** Blocks whose content is what was typed; all other blocks of agents are left out. */
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
/** Names of blocks that could also be HTML's. */
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
/** Agents write names in camel case, which HTML has none of. */
const isOfAgent = (name: string) =>
  /[_-]/.test(name) || /^[a-z]+[A-Z]/.test(name) || ofAgents.has(name.toLowerCase()) || typedIn.has(name.toLowerCase());

/** Blocks that begin messages of agents alone: what follows them is theirs, too. */
const addedWhole = /^\s*<(?:task-notification|local-command-|bash-(?:stdout|stderr|input))/;

/** What agents write in a user's name, by its beginning. */
const added =
  /^(?:Caveat: The messages below were generated|\[Request interrupted by user|\[Request cancelled|\[?Image(?: #\d+)?: |\[Image #?\d*\]\s*$|# AGENTS\.md instructions for |Base directory for this skill: |This is the Gemini CLI\. We are setting up|System: \[|Warmup\s*$|No response requested\.|The user (?:just )?(?:ran|selected|opened|doesn't want to proceed)\b|Called the \w+ tool with|Result of calling the \w+ tool|Stop hook feedback:|\[SYSTEM\b|--- CONTEXT ENTRY BEGIN ---|Please continue the conversation from where we left|\{"type":"tool_result")/;

const continued = /^This session is being continued from a previous conversation/;
const intent = /Primary Request[^:\n]{0,40}:\**\s*([^\n]{3,400}(?:\n[^\n]{0,400}){0,3})/;
/** How agents begin such a sum. */
const byUser =
  /^the user(?:'s|s)? (?:(?:explicit(?:ly)?|initial(?:ly)?|primary|main|overall) )*(?:(?:requests?|goal|task|intent)(?: (?:was|were|is|are))?|asked(?: me)?|wants?|wanted|requested)(?: to| that)?\s*:?\s*/i;

/** The request below an editor's context, in the form of Codex' extension. */
const requestHeading = /^##? My request for [^\n:]{1,40}:[ \t]*\n/m;

/** Where somebody else's words begin, in a session that was made of a transcript. */
const transcript = /^_\*\*(?:Agent|User)\b/m;

/** Reads a user's message. */
export function readTyped(raw: string): Typed {
  const called = readEcho(raw);
  if (called) return called;
  if (addedWhole.test(raw)) return nothing;
  let text = withoutBlocks(raw);
  const request = requestHeading.exec(text);
  if (request) text = text.slice(request.index + request[0].length);
  text = text.replace(/\[(?:Image|Pasted text|Attachment|File)[ #:][^\]\n]{0,200}\]/g, " ").trim();
  const other = transcript.exec(text);
  if (other) text = text.slice(0, other.index).trim();
  if (continued.test(text)) return nothing;
  if (text === "" || added.test(text)) return nothing;
  return readSlash(text) ?? { text };
}

/** What an earlier conversation was about, where an agent summed it up for itself. */
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

/** The echo of a command, as Claude Code writes it. A custom one begins with its message, and its expansion follows. */
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

/** A command that was typed where an agent keeps it as it is. */
function readSlash(text: string): Typed | undefined {
  const [all, name, given = ""] = slash.exec(text) ?? [];
  if (all === undefined || !name) return undefined;
  const rest = text.slice(all.length).trim();
  return { text: "", command: { name, given: [given.trim(), rest].filter(Boolean).join("\n") } };
}

/** Whether an agent's program carries a command out itself, so that it says nothing of what a session is about. */
export const isOfProgram = (name: string): boolean => programCommands.has(name.toLowerCase());

const opening = /<([a-zA-Z][\w-]{1,60})(?:\s[^<>]{0,500})?>/g;

/** How many tags of a text are looked at, and how deep: their ends are searched for. */
const max = { tags: 200, depth: 2 };

/** A text without the blocks that agents add, and with what was typed in the place of those around it. */
function withoutBlocks(raw: string, depth = 0): string {
  let [text, at] = ["", 0];
  for (let [found, seen] = [next(raw, at), 0]; found && seen < max.tags; found = next(raw, at), seen += 1) {
    const [tag, name = ""] = found;
    const start = found.index;
    const close = `</${name}>`;
    const end = raw.indexOf(close, start + tag.length);
    if (!isOfAgent(name) || (end === -1 && !/^(?:system-reminder|environment_context)$/.test(name))) {
      text += raw.slice(at, start + tag.length);
      at = start + tag.length;
      continue;
    }
    text += raw.slice(at, start);
    if (end === -1) return text.trim(); // it was cut off
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
