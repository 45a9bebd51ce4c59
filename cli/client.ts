import { isAbsolute } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Host } from "./adapters/adapter.ts";
import { expandHomes } from "./adapters/named-folders.ts";
import { logout, whoami } from "./commands/account.ts";
import { config } from "./commands/config.ts";
import { doctor } from "./commands/doctor.ts";
import { install } from "./commands/install.ts";
import { login } from "./commands/login.ts";
import { mcp } from "./commands/mcp.ts";
import { originals } from "./commands/originals.ts";
import { projects } from "./commands/projects.ts";
import { push } from "./commands/push.ts";
import { recall } from "./commands/recall.ts";
import { redact } from "./commands/redact.ts";
import { resume } from "./commands/resume.ts";
import { scan } from "./commands/scan.ts";
import { service } from "./commands/service.ts";
import { status } from "./commands/status.ts";
import { uninstall } from "./commands/uninstall.ts";
import { update } from "./commands/update.ts";
import { watch } from "./commands/watch.ts";
import { type Context, readPatience, type Values } from "./context.ts";
import { CommandError, exitCodes } from "./errors.ts";
import { type CommandName, commandNames, formatHelp } from "./help.ts";
import { program, running } from "./program.ts";
import { HttpError } from "./server/api.ts";
import { describeInvalidToken } from "./server/token.ts";
import { forgetTroubles } from "./service/troubles.ts";
import { formatDuration } from "./terminal/format.ts";
import { type Streams, Terminal } from "./terminal/terminal.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
// biome-ignore lint/suspicious/noConfusingVoidType: a command that returns nothing has succeeded
type Run = (context: Context) => Promise<number | void>;

const commonOptions: Options = {
  server: { type: "string" },
  insecure: { type: "boolean" },
  patience: { type: "string" },
  json: { type: "boolean" },
  "no-color": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
};

const text = { type: "string" } as const;
const source = { type: "string", multiple: true } as const;
const filters: Options = { since: { type: "string" }, source, project: { type: "string", multiple: true } };
const telemetry: Options = { "no-telemetry": { type: "boolean" } };

const flag = { type: "boolean" } as const;
const loginOptions: Options = { machine: text, scopes: text, "no-browser": flag };
const redaction: Options = { "no-redact": flag };
const consent: Options = { yes: flag, "dry-run": flag };
const installOptions: Options = {
  ...consent,
  ...loginOptions,
  "no-service": flag,
  "no-hooks": flag,
  "no-login": flag,
  "no-auto-update": flag,
  "auto-update": flag,
};

const resumeOptions: Options = {
  ...{ source, project: text, told: text, clean: flag, repair: flag },
  ...{ run: flag, force: flag, "any-version": flag },
};

const commands: Record<CommandName, { run: Run; options: Options; takesWords?: boolean }> = {
  install: { run: install, options: installOptions },
  uninstall: { run: uninstall, options: consent },
  service: { run: service, options: { lines: text, follow: flag, source, sender: flag }, takesWords: true },
  update: { run: update, options: { check: flag, "allow-older": flag } },
  login: { run: login, options: loginOptions },
  logout: { run: logout, options: {} },
  whoami: { run: whoami, options: {} },
  scan: { run: scan, options: { source, "show-telemetry": { type: "boolean" }, ...telemetry } },
  projects: { run: projects, options: { all: { type: "boolean" } }, takesWords: true },
  push: {
    run: push,
    options: { ...filters, ...telemetry, ...redaction, ...consent, replace: { type: "string", multiple: true } },
    takesWords: true,
  },
  // `watch` starts its second process with `--sender`.
  watch: { run: watch, options: { ...filters, ...redaction, sender: { type: "boolean" } } },
  originals: {
    run: originals,
    options: { ...loginOptions, project: { type: "string", multiple: true }, yes: flag, all: flag, "new-key": flag },
    takesWords: true,
  },
  redact: { run: redact, options: { check: text } },
  recall: { run: recall, options: { project: text }, takesWords: true },
  resume: { run: resume, options: resumeOptions, takesWords: true },
  mcp: { run: mcp, options: {} },
  config: { run: config, options: {}, takesWords: true },
  status: { run: status, options: {} },
  doctor: { run: doctor, options: {} },
};

const isCommand = (name: string | undefined): name is CommandName =>
  name !== undefined && Object.hasOwn(commands, name);

export type Surroundings = Omit<Host, "home" | "cwd"> & {
  home: () => string;
  cwd: string | undefined;
  terminal: Terminal;
  signal: AbortSignal;
};

export function makeTerminal(words: string[], env: Host["env"], streams: Streams): Terminal {
  const isPlain = words.includes("--no-color");
  return new Terminal(streams.output, streams.errors, {
    isJson: words.includes("--json"),
    env: isPlain ? { ...env, NO_COLOR: "1" } : env,
    input: streams.input,
  });
}

export async function runClient(words: string[], surroundings: Surroundings): Promise<number> {
  const { terminal, signal, env } = surroundings;
  try {
    const code = await run(words, surroundings);
    await setImmediate(); // a failed write is only known after this tick
    if (terminal.fault) throw new CommandError("failed", `Can't write the output: ${terminal.fault}.`);
    return code;
  } catch (error) {
    terminal.clear();
    if (signal.aborted) return exitCodes.interrupted;
    return reportError(error, terminal, env);
  }
}

async function run(words: string[], surroundings: Surroundings): Promise<number> {
  const { env, platform, terminal, signal } = surroundings;
  const allOptions = Object.assign({}, commonOptions, ...Object.values(commands).map(({ options }) => options));
  const [name] = parseArgs({ args: words, options: allOptions, strict: false }).positionals;
  const command = isCommand(name) ? commands[name] : undefined;
  if (name !== undefined && name !== "help" && !command) throw unknownCommand(name);
  const { values, positionals } = parse(words, { ...commonOptions, ...command?.options }, name);
  if (values.version === true) {
    terminal.write(running.version);
    return exitCodes.done;
  }
  if (values.help === true || name === undefined || name === "help") {
    const about = name === "help" ? positionals[1] : name;
    if (about !== undefined && !isCommand(about)) throw unknownCommand(about);
    for (const line of formatHelp(about).split("\n")) terminal.write(line);
    return values.help === true || name === "help" ? exitCodes.done : exitCodes.usage;
  }
  if (!command) throw unknownCommand(name);
  if (positionals.length > 1 && !command.takesWords) {
    throw new CommandError("usage", `${name} takes no argument "${positionals[1]}". See: ${program} ${name} --help`);
  }
  readPatience({ values });
  const home = homeFolder(surroundings);
  const host = { home, cwd: surroundings.cwd ?? home, env: expandHomes(env, home), platform };
  const code = (await command.run({ host, terminal, values, words: positionals.slice(1), signal })) ?? exitCodes.done;
  if (code === exitCodes.done && values["dry-run"] !== true) {
    if (name === "push") await forgetTroubles(host);
    if (name === "login") await forgetTroubles(host, ["login", "expiring"]);
  }
  return code;
}

/** @throws CommandError if unknown, because the current folder would take its place */
function homeFolder(surroundings: Surroundings): string {
  try {
    const home = surroundings.home();
    if (isAbsolute(home)) return home;
  } catch {
    // An unknown home folder and a relative one lead to the same advice.
  }
  throw new CommandError("usage", "Unknown home folder. Set HOME to its path.");
}

function parse(args: string[], options: Options, command = ""): { values: Values; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { values: values as Values, positionals };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (!code.startsWith("ERR_PARSE_ARGS")) throw error;
    const help = [program, command, "--help"].filter(Boolean).join(" ");
    const meant = suggestOption(message, options);
    throw new CommandError("usage", `${message.split(/\.\s/)[0]}. ${meant}See: ${help}`);
  }
}

function suggestOption(message: string, options: Options): string {
  const [, given = ""] = /^Unknown option '--([\w-]+)/.exec(message) ?? [];
  const meant = given && suggest(given, Object.keys(options));
  return meant ? `Did you mean --${meant}? ` : "";
}

function unknownCommand(name: string): CommandError {
  const suggestion = suggest(name, [...commandNames, "help"]);
  const hint = suggestion ? `Did you mean ${suggestion}?` : `See: ${program} --help`;
  return new CommandError("usage", `Unknown command: ${name}. ${hint}`);
}

export function reportError(error: unknown, terminal: Terminal, env: Host["env"]): number {
  const [kind, message] = describeError(error, env);
  terminal.json({ ok: false, error: kind, message });
  if (terminal.isJson) return exitCodes[kind];
  terminal.warn(`spoor: ${message}`);
  for (const line of findStack(error)) terminal.warn(line);
  return exitCodes[kind];
}

function describeError(error: unknown, env: Host["env"]): [CommandError["kind"], string] {
  if (error instanceof CommandError) return [error.kind, error.message];
  if (!(error instanceof HttpError)) return ["failed", String(error)];
  if (error.status === 401) return ["login", `${describeInvalidToken(env, `${program} login`)}.`];
  const fields = error.errors.map(({ path, message }) => ` ${path}: ${message}.`).join("");
  const request = error.requestId ? ` (request ${error.requestId})` : "";
  const isUnavailable = error.status === 429 || error.status >= 500;
  const { retryAfterSeconds = 0 } = error;
  const later =
    isUnavailable && retryAfterSeconds >= 1
      ? ` Try again in ${formatDuration(Math.ceil(retryAfterSeconds) * 1000)}.`
      : "";
  return [isUnavailable ? "unreachable" : "failed", error.message + fields + later + request];
}

function findStack(error: unknown): string[] {
  if (error instanceof CommandError || error instanceof HttpError || !(error instanceof Error)) return [];
  return (error.stack ?? "").split("\n").filter((line) => /^ {4}at /.test(line));
}

/** @returns a candidate within two edits (one for short words), or that the word begins */
function suggest(word: string, candidates: readonly string[]): string | undefined {
  const maxDistance = word.length < 4 ? 1 : 2;
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= maxDistance || candidate.startsWith(word.toLowerCase()))
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    let [diagonal = 0] = row;
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const above = row[column + 1] ?? 0;
      next.push(Math.min(above + 1, (next[column] ?? 0) + 1, diagonal + (letter === other ? 0 : 1)));
      diagonal = above;
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
