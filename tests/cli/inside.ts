import { PassThrough } from "node:stream";
import type { Host } from "../../cli/adapters/adapter.ts";
import { originals } from "../../cli/commands/originals.ts";
import { push } from "../../cli/commands/push.ts";
import type { Context } from "../../cli/context.ts";
import { CommandError, exitCodes } from "../../cli/errors.ts";
import { readIdentity } from "../../cli/originals/keys.ts";
import { HttpError } from "../../cli/server/api.ts";
import { Terminal } from "../../cli/terminal/terminal.ts";
import { startFake } from "./fake-server.ts";
import { makeHome, toLines } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId } from "./world.ts";

type Options = {
  words?: string[];
  values?: Context["values"];
  /** Without it, the output is no terminal. */
  columns?: number | undefined;
  /** The user types it. */
  answer?: string;
  /** Returns what the user types at each question. */
  answers?: (question: string, output: string) => string;
};

/** Runs a command in the test's own process, which is ten times as quick as starting the client. */
export async function runInside(
  command: (context: Context) => Promise<unknown>,
  host: Host,
  { words = [], values = {}, columns, answer, answers }: Options = {},
) {
  const written = { output: "", errors: "" };
  const stream = (name: "output" | "errors") => ({
    write: (text: string) => {
      written[name] += text;
      const isQuestion = name === "errors" && / $/.test(text);
      if (answers && isQuestion) input.write(`${answers(text, written.output)}\n`);
    },
    on: () => {},
    isTTY: columns !== undefined,
    columns,
  });
  const input = Object.assign(new PassThrough(), { isTTY: columns !== undefined });
  if (answer !== undefined) input.end(`${answer}\n`);
  const terminal = new Terminal(stream("output") as never, stream("errors") as never, {
    isJson: values.json === true,
    env: { NO_COLOR: "1", SPOOR_TOKEN: host.env.SPOOR_TOKEN },
    input: () => input as unknown as NodeJS.ReadStream,
  });
  const ended = await command({ host, terminal, values, words, signal: new AbortController().signal }).then(
    (code) => ({ code: typeof code === "number" ? code : exitCodes.done, message: "" }),
    (error) => {
      if (error instanceof CommandError) return { code: exitCodes[error.kind], message: error.message };
      if (error instanceof HttpError) return { code: error.status, message: error.message };
      throw error;
    },
  );
  // A terminal keeps no progress lines.
  const errors = written.errors
    .split("\r\x1b[2K")
    .filter((text) => !/^(?:Reading|Sending) {2}/.test(text))
    .join("");
  return { ...ended, output: written.output, errors };
}

/** As `world`, for `runInside`. */
export async function worldInside(sessions: number, options: Parameters<typeof startFake>[0] = {}) {
  const fake = await startFake(options);
  const files = Array.from({ length: sessions }, (_, index) => index + 1).map((number) => [
    claudePath(number),
    toLines(...claudeLines(makeId(number), number)),
  ]);
  const host = await addMachine(fake.url, Object.fromEntries(files));
  return { fake, host, home: host.home };
}

/** A home with exact copies on. */
export async function worldWithCopies(sessions = 0) {
  const world = await worldInside(sessions);
  const switched = await runInside(originals, world.host, { words: ["on"], values: { yes: true } });
  if (switched.code !== 0) throw new Error(switched.message);
  const identity = await readIdentity(world.host);
  return { ...world, secret: identity?.secret ?? "", recipient: identity?.recipient ?? "" };
}

/** Another home with the same account. */
export async function addMachine(url: string, files: Parameters<typeof makeHome>[0] = {}): Promise<Host> {
  const host = await makeHome(files);
  Object.assign(host.env, { SPOOR_URL: url, SPOOR_TOKEN: "spoor_test" });
  return host;
}

/** `push --json`: its exit code and output. */
export async function pushInside(host: Host, values: Context["values"] = {}, words: string[] = []) {
  const { code, output, errors, message } = await runInside(push, host, { words, values: { json: true, ...values } });
  return { code, errors, message, ...(output ? JSON.parse(output) : {}) };
}
