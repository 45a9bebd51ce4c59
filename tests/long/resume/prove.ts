// A session on one machine, taken out on others: what each way of resuming makes the agent send.
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Archive } from "../agents/archive.ts";
import { path } from "../agents/install.ts";
import { killStrays, type Machine, makeMachine, runOn } from "../agents/machine.ts";
import { type Exchange, startStandIn } from "../agents/standin.ts";
import type { Resumable } from "./agents.ts";
import { mutations } from "./mutations.ts";
import { findDifference, listBefore, refuseForged } from "./requests.ts";

/** By row, "proven" or what was seen instead. */
export type Proofs = Map<string, string>;
export const proven = "proven";
export const rows = [
  ...["exact", "pushed again", "in turns", ...Object.keys(mutations).map((name) => `noticed: ${name}`)],
  ...["clean, from the copy", "clean, from the archive", "clean, pushed again", "told", "repair"],
];

const scripts = ["tools", "thinking", "helper", "secret", "unicode"];
const ask = (script: string) => `Please show what ${script} looks like. (script ${script})`;
const scopes = ["ingest", "read", "originals"] as const;

type Restored = {
  command: string[];
  files: { path: string; wrote: string }[];
  notes: string[];
  missing: string[];
  text: string;
};

export async function prove(agent: Resumable, command: string, archive: Archive, folder: string): Promise<Proofs> {
  const run = new Proving(agent, command, archive, folder);
  await run.open();
  try {
    await run.begin();
    return await run.proveAll();
  } finally {
    await run.close();
  }
}

class Proving {
  readonly #agent: Resumable;
  readonly #command: string;
  readonly #archive: Archive;
  readonly #folder: string;
  readonly #machines: Machine[] = [];
  readonly #proofs: Proofs = new Map();
  #standIn: Awaited<ReturnType<typeof startStandIn>> | undefined;
  #token = "";
  #phrase = "";
  #id = "";
  /** The first machine's next request began with these. */
  #expected: string[] = [];
  /** The second machine asked these. */
  #asked: Exchange[] = [];

  constructor(agent: Resumable, command: string, archive: Archive, folder: string) {
    this.#agent = agent;
    this.#command = command;
    this.#archive = archive;
    this.#folder = folder;
  }

  async open(): Promise<void> {
    const { context } = this.#agent;
    this.#standIn = await startStandIn({
      ...{ folder: join(this.#folder, "a/widgets"), context, onHold() {} },
      refuse: refuseForged,
    });
    this.#token = await this.#archive.addUser([...scopes]);
  }

  async close(): Promise<void> {
    for (const machine of this.#machines) await killStrays(machine);
    await this.#standIn?.stop();
  }

  async #makeMachine(name: string, repository: string): Promise<Machine> {
    const machine = await makeMachine(this.#agent, this.#standIn?.url ?? "", join(this.#folder, name), repository);
    this.#machines.push(machine);
    return machine;
  }

  /** The program's answer, also of one that failed. */
  async #spoor(machine: Machine, words: string[], input = ""): Promise<Record<string, unknown>> {
    const env = { PATH: `${dirname(this.#command)}:${path}` };
    const { home, repository: cwd } = machine;
    try {
      return await this.#archive.run({ home, token: this.#token, cwd, words, input, env });
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      if (!stdout.startsWith("{")) throw new Error(`spoor ${words.join(" ")}: ${stderr || error}`);
      return JSON.parse(stdout) as Record<string, unknown>;
    }
  }

  async #restore(machine: Machine, ...words: string[]): Promise<Restored> {
    const answer = await this.#spoor(machine, ["resume", this.#id, ...words]);
    if (answer.ok === false) throw new Error(String(answer.message));
    return answer as Restored;
  }

  async #ask(machine: Machine, script: string, id?: string): Promise<Exchange[]> {
    const from = this.#standIn?.exchanges.length ?? 0;
    const { words, resume } = this.#agent;
    const prompt = ask(script);
    const output = await runOn(machine, this.#command, id ? resume(prompt, id) : words(prompt, from > 0, machine.home));
    const asked = this.#standIn?.exchanges.slice(from).filter((one) => one.script === script) ?? [];
    if (asked.length === 0) throw new Error(`the agent asked nothing: ${output.slice(-500)}`);
    return asked;
  }

  async #begin(machine: Machine, script: string, id: string): Promise<string[]> {
    const [first] = await this.#ask(machine, script, id);
    return this.#listBefore(first, script);
  }

  #listBefore(exchange: Exchange | undefined, script: string): string[] {
    const { list, own = 0 } = this.#agent;
    return exchange ? listBefore(exchange, list, script).slice(own) : [];
  }

  /** The session on machine A, its copy, and what A would have sent next; then A is gone. */
  async begin(): Promise<void> {
    const a = await this.#makeMachine("a", "widgets");
    for (const script of scripts) await this.#ask(a, script);
    await killStrays(a);
    await this.#spoor(a, ["originals", "on", "--yes"]);
    await this.#spoor(a, ["push", "--yes"]);
    this.#phrase = String((await this.#spoor(a, ["originals", "key", "export"])).phrase);
    const { sessions } = await this.#archive.read(this.#token);
    const main = sessions.find(({ messages }) => messages.some(({ content }) => content.includes(ask("tools"))));
    this.#id = main?.sourceId ?? "";
    this.#expected = await this.#begin(a, "second", this.#id);
    await killStrays(a);
    await rm(a.home, { recursive: true });
  }

  async #prove(row: string, work: () => Promise<string | undefined>): Promise<void> {
    try {
      this.#proofs.set(row, (await work()) ?? proven);
    } catch (error) {
      this.#proofs.set(row, String(error instanceof Error ? error.message : error).slice(0, 600));
    }
  }

  async proveAll(): Promise<Proofs> {
    const b = await this.#makeMachine("b", "my gadgets");
    await this.#takeKey(b);
    await this.#prove("exact", () => this.#proveExact(b));
    await this.#prove("pushed again", () => this.#countPush(b, this.#asked));
    await this.#prove("in turns", () => this.#proveTurns(b));
    for (const name of Object.keys(mutations)) await this.#prove(`noticed: ${name}`, () => this.#proveNoticed(name));
    if (this.#agent.canRebuild) await this.#proveRebuilt();
    await this.#prove("told", () => this.#proveTold());
    if (this.#agent.folder === "claude") await this.#prove("repair", () => this.#proveRepair());
    return this.#proofs;
  }

  async #takeKey(machine: Machine): Promise<void> {
    await this.#spoor(machine, ["originals", "key", "import"], `${this.#phrase}\n`);
  }

  async #proveExact(b: Machine): Promise<string | undefined> {
    const { files } = await this.#restore(b);
    if (files.some(({ wrote }) => wrote !== "new")) return `files were there: ${JSON.stringify(files)}`;
    this.#asked = await this.#ask(b, "second", this.#id);
    const [first] = this.#asked;
    return findDifference(this.#expected, this.#listBefore(first, "second"));
  }

  async #sum(): Promise<{ sessions: number; tokens: number }> {
    const { sessions, total } = await this.#archive.read(this.#token);
    const { inputTokens, cacheReadTokens, outputTokens } = total;
    return { sessions: sessions.length, tokens: inputTokens + cacheReadTokens + outputTokens };
  }

  /** The session must stay one, and only what was asked since may be counted. */
  async #countPush(machine: Machine, asked: Exchange[]): Promise<string | undefined> {
    const before = await this.#sum();
    await this.#spoor(machine, ["originals", "on", "--yes"]);
    const pushed = await this.#spoor(machine, ["push", "--yes"]);
    const { refused } = pushed.originals as { refused: number };
    if (refused > 0) return `${refused} copies were refused`;
    const after = await this.#sum();
    const added = asked.flatMap(({ answer }) => answer ?? []).map(({ tokens }) => tokens);
    const tokens = added.reduce((sum, one) => sum + one.input + one.cacheRead + one.output + one.reasoning, 0);
    if (after.sessions !== before.sessions) return `${after.sessions} sessions instead of ${before.sessions}`;
    return after.tokens === before.tokens + tokens
      ? undefined
      : `${after.tokens} tokens instead of ${before.tokens} and ${tokens}`;
  }

  /** C goes on with what B pushed, and then B with what C pushed. */
  async #proveTurns(b: Machine): Promise<string | undefined> {
    const c = await this.#makeMachine("c", "widgets");
    await this.#takeKey(c);
    await this.#restore(c);
    const asked = await this.#ask(c, "third", this.#id);
    const counted = await this.#countPush(c, asked);
    if (counted) return counted;
    await killStrays(c);
    const { files } = await this.#restore(b);
    if (!files.some(({ wrote }) => wrote === "continued")) return `nothing was continued: ${JSON.stringify(files)}`;
    const elsewhere = { ...c, home: join(c.folder, "home") };
    const expected = await this.#begin(elsewhere, "plain", this.#id);
    const difference = findDifference(expected, await this.#begin(b, "plain", this.#id));
    await rm(c.home, { recursive: true });
    return difference;
  }

  async #makeCopyMachine(name: string): Promise<Machine> {
    const machine = await this.#makeMachine(name, "widgets");
    await this.#takeKey(machine);
    return machine;
  }

  async #proveNoticed(name: string): Promise<string | undefined> {
    const machine = await this.#makeCopyMachine(name.replaceAll(" ", "-"));
    await this.#restore(machine);
    const home = `${machine.home}-whole`;
    await cp(machine.home, home, { recursive: true });
    const whole = { ...machine, home, env: { ...machine.env, HOME: home } };
    const place = { home: machine.home, from: join(this.#folder, "a/widgets"), to: machine.repository };
    const isChanged = await mutations[name]?.(this.#agent, place);
    if (!isChanged) return "–";
    const again = await this.#spoor(machine, ["resume", this.#id]);
    const isRefused = again.ok === false && String(again.message).includes("already there");
    if (!isRefused) return "spoor resume did not notice it";
    if (name.includes("sub-agent")) return undefined;
    const expected = await this.#begin(whole, "second", this.#id);
    const difference = findDifference(expected, await this.#begin(machine, "second", this.#id));
    return difference ? undefined : "the requests are the same";
  }

  async #proveRebuilt(): Promise<void> {
    const ways = [
      ["clean, from the copy", true],
      ["clean, from the archive", false],
    ] as const;
    for (const [row, hasKey] of ways) {
      await this.#prove(row, async () => {
        const machine = await this.#makeMachine(hasKey ? "copied" : "rebuilt", "gizmos");
        if (hasKey) await this.#takeKey(machine);
        const { command, notes } = await this.#restore(machine, "--clean");
        if (!notes.join().includes(hasKey ? "exact copy" : "from the archive")) return notes.join();
        const asked = await this.#ask(machine, "second", command.at(-1));
        if (hasKey) await this.#prove("clean, pushed again", () => this.#countFork(machine, asked));
        return this.#compareRebuilt(asked[0], hasKey);
      });
    }
  }

  /** A fork is a session of its own, and counts only what was asked in it. */
  async #countFork(machine: Machine, asked: Exchange[]): Promise<string | undefined> {
    const counted = await this.#countPush(machine, asked);
    return (
      counted?.replace(/^(\d+) sessions instead of (\d+)$/, (whole, now, before) =>
        Number(now) === Number(before) + 1 ? "" : whole,
      ) || undefined
    );
  }

  #compareRebuilt(first: Exchange | undefined, isWhole: boolean): string | undefined {
    if (!first) return "nothing was asked";
    const { turns } = first.asked;
    const text = first.body.toString();
    if (/"type":"(?:thinking|redacted_thinking|reasoning)"|encrypted_content":"dGhvdWdodC/.test(text))
      return "it has thoughts";
    const known = this.#standIn?.exchanges.filter(({ script }) => scripts.includes(script ?? "")) ?? [];
    const answers = known.flatMap(({ answer }) => answer ?? []);
    const results = new Set(turns.flatMap((turn) => turn.results.map(({ callId }) => callId)));
    const lost = answers.flatMap(({ calls }) => calls).filter(({ id }) => !results.has(id) || !text.includes(id));
    if (lost.length > 0) return `calls without a result: ${lost.map(({ name, id }) => `${name} ${id}`)}`;
    const said = answers.flatMap(({ text: words }) => (words && (isWhole || !words.includes("ghp_")) ? [words] : []));
    const silent = said.filter((words) => !turns.some((turn) => turn.text.includes(words)));
    return silent.length > 0 ? `it lacks: ${silent}` : undefined;
  }

  async #proveTold(): Promise<string | undefined> {
    const machine = await this.#makeMachine("told", "gizmos");
    const { text } = await this.#restore(machine, "--told", this.#agent.command);
    const missing = [ask("tools"), "notes.txt", ask("unicode")].filter((words) => !text.includes(words));
    if (missing.length > 0) return `it lacks: ${missing}`;
    const from = this.#standIn?.exchanges.length ?? 0;
    await runOn(machine, this.#command, this.#agent.words(`${text}\n${ask("first")}`, false, machine.home));
    const [first] = this.#standIn?.exchanges.slice(from).filter(({ script }) => script === "first") ?? [];
    return first?.asked.turns.some((turn) => turn.text.includes("Continue a session of"))
      ? undefined
      : "it was not sent";
  }

  /** The last thought has lost its signature, for which the stand-in refuses it as the API does. */
  async #proveRepair(): Promise<string | undefined> {
    const machine = await this.#makeCopyMachine("broken");
    const { files } = await this.#restore(machine);
    const main = join(machine.home, ".claude", files.at(-1)?.path ?? "");
    const text = await readFile(main, "latin1");
    const signed = [...text.matchAll(/"signature":"([^"]+)"/g)].filter(({ index }) => !isInRequest(text, index));
    const [first, last] = [signed[0]?.[1] ?? "", signed.at(-1)];
    if (!last || last[1] === first) return "there are not two thoughts";
    const bad = `${text.slice(0, last.index)}"signature":""${text.slice(last.index + last[0].length)}`;
    await writeFile(main, bad, "latin1");
    const mended = await this.#spoor(machine, ["resume", "--repair", this.#id]);
    if (mended.ok === false) return String(mended.message);
    const asked = await this.#ask(machine, "second", this.#id);
    if (asked.some(({ status }) => status !== 200)) return "the mended session was refused";
    const body = asked[0]?.body.toString() ?? "";
    if (!body.includes(first)) return "a good thought is gone, too";
    return body.includes(last[1] ?? "") ? "the bad thought is still there" : undefined;
  }
}

/** Claude Code also notes what it asked. */
const isInRequest = (text: string, at: number): boolean =>
  text.slice(text.lastIndexOf("\n", at) + 1).startsWith('{"type":"api-request');
