// The client: `spoor`. It is built into one file that a server delivers at /spoor.mjs.

import { homedir } from "node:os";
import { setImmediate } from "node:timers/promises";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { logout, whoami } from "./commands/account.ts";
import { doctor } from "./commands/doctor.ts";
import { login } from "./commands/login.ts";
import { push } from "./commands/push.ts";
import { scan } from "./commands/scan.ts";
import { status } from "./commands/status.ts";
import { watch } from "./commands/watch.ts";
import type { Context, Values } from "./context.ts";
import { CommandError, exitCodes } from "./errors.ts";
import { type CommandName, helpOf } from "./help.ts";
import { program } from "./program.ts";
import { HttpError } from "./server/api.ts";
import { Terminal } from "./terminal/terminal.ts";
import { version } from "./version.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
// biome-ignore lint/suspicious/noConfusingVoidType: a command that only ever ends well returns nothing
type Run = (context: Context) => Promise<number | void>;

const everyOption: Options = {
  server: { type: "string" },
  patience: { type: "string" },
  json: { type: "boolean" },
  "no-color": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
};

const filters: Options = {
  since: { type: "string" },
  source: { type: "string", multiple: true },
  project: { type: "string", multiple: true },
};

const telemetry: Options = { "no-telemetry": { type: "boolean" } };

const commands: Record<CommandName, { run: Run; options: Options; takesWords?: boolean }> = {
  login: { run: login, options: { machine: { type: "string" }, "no-browser": { type: "boolean" } } },
  logout: { run: logout, options: {} },
  whoami: { run: whoami, options: {} },
  scan: {
    run: scan,
    options: { source: filters.source as Options[string], "show-telemetry": { type: "boolean" }, ...telemetry },
  },
  push: { run: push, options: { ...filters, ...telemetry, "dry-run": { type: "boolean" } }, takesWords: true },
  watch: { run: watch, options: { ...filters, ...telemetry } },
  status: { run: status, options: {} },
  doctor: { run: doctor, options: {} },
};

const isCommand = (name: string | undefined): name is CommandName =>
  name !== undefined && Object.hasOwn(commands, name);

async function main(words: string[]): Promise<number> {
  const { env } = process;
  const interrupted = new AbortController();
  const terminal = new Terminal(process.stdout, process.stderr, {
    isJson: words.includes("--json"),
    env: words.includes("--no-color") ? { ...env, NO_COLOR: "1" } : env,
  });
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interrupted.abort());
  try {
    const code = await run(words, terminal, interrupted.signal);
    await setImmediate(); // what became of the last line is known then
    if (terminal.fault) throw new CommandError("failed", `The output can't be written: ${terminal.fault}.`);
    return code;
  } catch (error) {
    terminal.clear();
    if (interrupted.signal.aborted) return exitCodes.interrupted;
    return tellFailure(error, terminal);
  }
}

async function run(words: string[], terminal: Terminal, signal: AbortSignal): Promise<number> {
  const everywhere = Object.assign({}, everyOption, ...Object.values(commands).map(({ options }) => options));
  const [name] = parseArgs({ args: words, options: everywhere, strict: false }).positionals;
  const command = isCommand(name) ? commands[name] : undefined;
  const { values, positionals } = parse(words, { ...everyOption, ...command?.options });
  if (values.version === true) {
    terminal.write(`${version}\n`);
    return exitCodes.done;
  }
  if (values.help === true || name === undefined || name === "help") {
    const about = name === "help" ? positionals[1] : name;
    if (about !== undefined && !isCommand(about)) throw unknownCommand(about);
    terminal.write(`${helpOf(about)}\n`);
    return values.help === true || name === "help" ? exitCodes.done : exitCodes.usage;
  }
  if (!command) throw unknownCommand(name);
  if (positionals.length > 1 && !command.takesWords) {
    throw new CommandError("usage", `${name} takes no "${positionals[1]}". See: ${program} ${name} --help`);
  }
  const host = { home: homedir(), cwd: process.cwd(), env: process.env, platform: process.platform };
  return (await command.run({ host, terminal, values, words: positionals.slice(1), signal })) ?? exitCodes.done;
}

function parse(args: string[], options: Options): { values: Values; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { values: values as Values, positionals };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code.startsWith("ERR_PARSE_ARGS"))
      throw new CommandError("usage", `${message.split(". ")[0]}. See: ${program} --help`);
    throw error;
  }
}

const unknownCommand = (name: string) =>
  new CommandError("usage", `There is no command "${name}". See: ${program} --help`);

function tellFailure(error: unknown, terminal: Terminal): number {
  const [kind, line] = failureOf(error);
  terminal.json({ ok: false, error: kind, message: line });
  if (!terminal.isJson) terminal.warn(`spoor: ${line}`);
  return exitCodes[kind];
}

function failureOf(error: unknown): [Exclude<keyof typeof exitCodes, "done">, string] {
  if (error instanceof CommandError) return [error.kind, error.message];
  if (!(error instanceof HttpError)) return ["failed", (error as Error).stack ?? String(error)];
  if (error.status === 401) return ["login", `The token is not valid any more. Log in anew with: ${program} login`];
  const request = error.requestId ? ` (request ${error.requestId})` : "";
  return [error.status === 429 || error.status >= 500 ? "unreachable" : "failed", error.message + request];
}

process.exitCode = await main(process.argv.slice(2));
