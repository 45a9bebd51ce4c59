import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Adapter, Host, Input, Message, SessionDetails } from "../../cli/adapters/adapter.ts";
import { takePictures, withReferences } from "../../cli/adapters/pictures.ts";

/** Creates a home folder for the current test. @param files contents by their paths below it */
export async function makeHome(files: Record<string, string | Buffer> = {}): Promise<Host> {
  const home = await mkdtemp(join(tmpdir(), "spoor-home-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) await writeBelow(home, path, content);
  return { home, cwd: home, env: {}, platform: "linux" };
}

export async function writeBelow(home: string, path: string, content: string | Buffer): Promise<string> {
  const whole = join(home, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, content);
  return whole;
}

/** Objects as a file of JSON lines. */
export const toLines = (...records: unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

export type Parsed = {
  sessions: { source: string; sourceId: string; messages: Message[]; ending: SessionDetails }[];
  rejected: { sourceId: string; reason: string }[];
  counts: { entries: number; skipped: number; invalid: number };
  unhandled: string[];
  lost: string[];
  /** Each as `LINE: REASON`. */
  invalid: string[];
};

export async function discoverAll(adapter: Adapter, host: Host): Promise<Input[]> {
  const inputs: Input[] = [];
  for await (const input of adapter.discover(host)) inputs.push(input);
  return inputs.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Everything that an adapter finds in a home. A session that neither ends nor is rejected is an error. */
export async function parseAll(adapter: Adapter, host: Host): Promise<Parsed> {
  const parsed: Parsed = {
    sessions: [],
    rejected: [],
    counts: { entries: 0, skipped: 0, invalid: 0 },
    unhandled: [],
    lost: [],
    invalid: [],
  };
  let line: number | undefined;
  let open: Parsed["sessions"][number] | undefined;
  const begun = () => {
    if (!open) throw new Error("no session was begun");
    return open;
  };
  for (const input of await discoverAll(adapter, host)) {
    await adapter.parse(input, {
      begin(source, sourceId) {
        if (open) throw new Error(`${open.sourceId} has not ended when ${sourceId} begins`);
        open = { source, sourceId, messages: [], ending: {} };
      },
      message(told) {
        const { message, references } = takePictures(told);
        begun().messages.push(withReferences(message, references));
      },
      end(ending) {
        parsed.sessions.push({ ...begun(), ending });
        open = undefined;
      },
      reject(reason) {
        parsed.rejected.push({ sourceId: begun().sourceId, reason });
        open = undefined;
      },
      folder() {},
      lost: (reason) => void parsed.lost.push(reason),
      entry(at) {
        parsed.counts.entries++;
        line = at;
      },
      skipped: () => void parsed.counts.skipped++,
      invalid(reason) {
        parsed.counts.invalid++;
        parsed.invalid.push(`${line}: ${reason}`);
      },
      unhandled: (type) => void parsed.unhandled.push(type),
      checkpoint() {},
      pause: async () => {},
    });
    if (open) throw new Error(`${open.sourceId} never ended`);
  }
  return parsed;
}

/** Who said what, and the first of these fields that a message has: what tells it from others. */
export const told = (messages: Message[] | undefined, fields = ["kind", "result"]) =>
  messages?.map(({ role, content, metadata }) => [
    role,
    content,
    fields.map((field) => metadata?.[field]).find((value) => value !== undefined),
  ]);

/** Who said what, and of what kind it is. */
export const kinds = (messages: Message[] | undefined) =>
  messages?.map(({ role, content, metadata }) => [
    role,
    metadata?.result ? "result" : metadata?.tool ? "call" : (metadata?.kind ?? ""),
    content,
  ]);
