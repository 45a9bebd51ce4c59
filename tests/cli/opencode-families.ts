// Random families of OpenCode's sessions: a fork has copies of another one's messages, with new ids and the same times.
import type { DatabaseSync } from "node:sqlite";
import { makeRandom } from "../support/random.ts";
import { type Edits, sumEdits } from "./claude-families.ts";
import { answer, question, start, type Told } from "./opencode-files.ts";

type Session = { id: string; title: string; created: number; messages: Told[] };

/** 2 to 6 sessions that go on and are forked, also forks of forks; people rename some. */
export function makeOpencodeFamily(seed: number): Session[] {
  const random = makeRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  let now = start;
  /** Now and then at a whole second. */
  const later = () => {
    now += 1 + Math.floor(random() * 9000);
    if (random() < 0.1) now = Math.ceil(now / 1000) * 1000;
    return { created: now };
  };
  function turn({ messages }: Session): void {
    const number = messages.length;
    messages.push(question(`Question ${number}`, { time: later() }));
    const tokens = { input: 100 + Math.floor(random() * 900), output: 1 + Math.floor(random() * 50) };
    const edited = random() < 0.4 ? [edit(number, pick(["a.ts", "lib/b.ts"]))] : [];
    messages.push(answer([{ type: "text", text: `Answer ${number}` }, ...edited], { time: later(), tokens }));
  }
  function create(from?: Session): Session {
    const { created } = later();
    const id = `ses_${seed}_${created}`;
    const title = random() < 0.5 ? "Renamed" : from ? `${from.title} (fork #1)` : "Listing";
    const count = from ? 2 * (1 + Math.floor((random() * from.messages.length) / 2)) : 0;
    return { id, title, created, messages: from?.messages.slice(0, count) ?? [] };
  }
  const sessions = [create()];
  turn(sessions[0] as Session);
  const count = 2 + Math.floor(random() * 5);
  while (sessions.length < count) {
    const from = pick(sessions);
    const session = random() < 0.4 ? from : create(from);
    if (session !== from) sessions.push(session);
    if (session === from || random() < 0.8) turn(session);
  }
  return sessions;
}

export function writeSession(db: DatabaseSync, { id, title, created, messages }: Session): void {
  const session = db.prepare("INSERT INTO session VALUES (?, NULL, '/code/api', ?, '1.2.0', NULL, ?, ?)");
  session.run(id, title, created, created);
  for (const [m, { info, parts }] of messages.entries()) {
    const message = `msg_${id}_${m}`;
    const at = (info.time as { created: number }).created;
    const row = [message, id, at, created, JSON.stringify(info)];
    db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(...row);
    for (const [p, part] of parts.entries()) {
      const partRow = [`prt_${message}_${p}`, message, id, at, created, JSON.stringify(part)];
      db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)").run(...partRow);
    }
  }
}

const edit = (number: number, path: string) => {
  const input = { filePath: `/code/api/${path}`, oldString: "old", newString: number % 2 === 0 ? "one" : "one\ntwo" };
  const state = { status: "completed", input, output: "Done", metadata: {}, time: { start, end: start + 1 } };
  return { type: "tool", callID: `call_${number}`, tool: "edit", state };
};

/** The edits of the answers that any of some sessions has: of each once. */
export function editsOfSessions(sessions: Session[]): Edits {
  const messages = new Map(
    sessions.flatMap(({ messages }) => messages).map((one) => [(one.info.time as { created: number }).created, one]),
  );
  const edits = [...messages.values()].flatMap(({ parts }) => parts.filter(({ tool }) => tool === "edit"));
  return sumEdits(
    edits.map(({ state }) => {
      const { filePath, newString } = (state as ReturnType<typeof edit>["state"]).input;
      return { path: filePath.replace("/code/api/", ""), text: newString };
    }),
  );
}

/** The output of the answers that any of some sessions has: of each once. */
export function outputOfSessions(sessions: Session[]): number {
  const infos = sessions.flatMap(({ messages }) => messages.map(({ info }) => info)) as {
    time: { created: number };
    role: string;
    tokens?: { output: number };
  }[];
  const outputs = new Map(infos.filter(({ role }) => role === "assistant").map((one) => [one.time.created, one]));
  return [...outputs.values()].reduce((sum, { tokens }) => sum + (tokens?.output ?? 0), 0);
}
