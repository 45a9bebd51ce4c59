import type { Host } from "./adapters/adapter.ts";
import { CommandError } from "./errors.ts";
import { program } from "./program.ts";
import type { Terminal } from "./terminal/terminal.ts";

export type Values = Record<string, string | boolean | string[] | undefined>;

export type Context = {
  host: Host;
  terminal: Terminal;
  values: Values;
  words: string[];
  signal: AbortSignal;
};

const defaultPatienceSeconds = 300;

/**
 * Reads `--patience`: how long to retry while the server is unavailable, in seconds.
 *
 * @throws CommandError if it is not a number
 */
export function readPatience({ values }: Pick<Context, "values">): number {
  if (values.patience === undefined) return defaultPatienceSeconds;
  const text = String(values.patience);
  const seconds = Number(text);
  if (text.trim() !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new CommandError("usage", `--patience must be a number of seconds, not "${text}".`);
}

export const stringValue = ({ values }: Context, name: string): string | undefined =>
  typeof values[name] === "string" ? values[name] : undefined;

export const listValue = ({ values }: Context, name: string): string[] =>
  Array.isArray(values[name]) ? values[name] : [];

export function commandHint(context: Context, command: string): string {
  const server = stringValue(context, "server");
  const insecure = context.values.insecure === true ? ["--insecure"] : [];
  return [program, command, ...(server === undefined ? [] : ["--server", server]), ...insecure].join(" ");
}
