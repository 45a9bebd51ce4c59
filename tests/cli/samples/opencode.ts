// Homes of OpenCode and of the programs made from it, in each of its forms.
import type { Home, Row } from "./home.ts";
import { type Any, type Counts, id, type Line, many, none, start } from "./sample.ts";

const tokens = { input: 40, output: 5, reasoning: 2, cache: { read: 60, write: 3 } };
const about = { id: `ses_${id}`, directory: "/code/api", title: "Listing", version: "1.1.0", time: { created: start } };
const tool = (n: number) => ({
  type: "tool",
  callID: `c${n}`,
  tool: "bash",
  state: { status: "completed", input: { command: `ls ${n}` }, output: `file ${n}`, metadata: { exit: 0 } },
});

/** A question and an answer, each with its parts. */
const talk = many((n) => [
  { role: "user", time: { created: start + n * 60_000 }, parts: [{ type: "text", text: `Why ${n}?` }] },
  {
    role: "assistant",
    modelID: "claude-opus-4-5",
    time: { created: start + n * 60_000 + 1000 },
    tokens: { ...tokens, total: tokens.input + tokens.output + tokens.cache.read + tokens.cache.write },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: `Look ${n}.` },
      { type: "text", text: `So ${n}.` },
      tool(n),
      { type: "step-finish", tokens: { ...tokens, total: 108 } },
    ],
  },
]);

function countTalk(): Counts {
  const counts = none();
  for (const { role, parts, tokens: used } of talk as Any[]) {
    for (const { type } of parts) {
      if (type === "text") counts[role === "user" ? "questions" : "answers"]++;
      if (type === "reasoning") counts.thoughts++;
      if (type === "tool") {
        counts.calls++;
        counts.results++;
      }
    }
    // What was thought is a part of the output: the total says so.
    counts.input += used?.input ?? 0;
    counts.output += used?.output ?? 0;
    counts.cacheRead += used?.cache.read ?? 0;
  }
  return counts;
}

/** The files of a program in its folder. */
export function openCodeFiles(folder: string): Home {
  const storage = `.local/share/${folder}/storage`;
  const files: Record<string, string> = { [`${storage}/session/p1/${about.id}.json`]: JSON.stringify(about) };
  for (const [m, { parts, ...info }] of talk.entries()) {
    const name = `msg_${m}`;
    files[`${storage}/message/${about.id}/${name}.json`] = JSON.stringify({ id: name, sessionID: about.id, ...info });
    for (const [p, part] of (parts as Line[]).entries())
      files[`${storage}/part/${name}/prt_${p}.json`] = JSON.stringify({ id: `prt_${p}`, messageID: name, ...part });
  }
  return { files, count: countTalk };
}

const session: Row = {
  id: about.id,
  project_id: "p",
  workspace_id: null,
  parent_id: null,
  directory: about.directory,
  title: about.title,
  version: about.version,
  revert: null,
  model: null,
  cost: 0,
  time_created: start,
  time_updated: start,
};

/** A program's database, with a row for each message and each part. */
export function openCodeDatabase(path: string): Home {
  const common = { session_id: about.id, time_created: start, time_updated: start };
  return {
    databases: {
      [`.local/share/${path}`]: {
        session: [session],
        message: talk.map(({ parts, ...info }, m) => ({
          id: `msg_${m}`,
          ...common,
          time_created: start + m,
          data: JSON.stringify(info),
        })),
        part: talk.flatMap(({ parts }, m) =>
          (parts as Line[]).map((part, p) => ({
            id: `prt_${m}_${p}`,
            message_id: `msg_${m}`,
            ...common,
            data: JSON.stringify(part),
          })),
        ),
      },
    },
    count: countTalk,
  };
}

const whole = many((n) => [
  { type: "user", text: `Why ${n}?` },
  {
    type: "assistant",
    model: { id: "claude-opus-4-5", providerID: "anthropic" },
    finish: "stop",
    tokens,
    content: [
      { type: "reasoning", id: "r", text: `Look ${n}.` },
      { type: "text", text: `So ${n}.` },
      {
        type: "tool",
        id: `c${n}`,
        name: "bash",
        state: { status: "completed", input: { command: `ls ${n}` }, content: [{ type: "text", text: "a" }] },
      },
    ],
  },
]);

/** The newest form: a row is a whole message. */
export const newerOpenCode: Home = {
  databases: {
    ".local/share/opencode/opencode.db": {
      session: [session],
      message: [{ id: "none", session_id: "other", time_created: 0, time_updated: 0, data: "{}" }],
      part: [{ id: "none", message_id: "none", session_id: "other", time_created: 0, time_updated: 0, data: "{}" }],
      session_message: whole.map(({ type, ...message }, seq) => ({
        id: `msg_${seq}`,
        session_id: about.id,
        type: String(type),
        seq,
        time_created: start + seq,
        time_updated: start + seq,
        data: JSON.stringify({ time: { created: start + seq }, ...message }),
      })),
    },
  },
  count() {
    const counts = none();
    for (const { type, content = [], tokens: used } of whole as Any[]) {
      if (type === "user") counts.questions++;
      for (const part of content) {
        if (part.type === "text") counts.answers++;
        if (part.type === "reasoning") counts.thoughts++;
        if (part.type === "tool") {
          counts.calls++;
          counts.results++;
        }
      }
      counts.input += used?.input ?? 0;
      counts.output += used ? used.output + used.reasoning : 0;
      counts.cacheRead += used?.cache.read ?? 0;
    }
    return counts;
  },
};
