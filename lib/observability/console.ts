// Next writes its errors to the console; in the web process they become log lines.
import { stripVTControlCharacters } from "node:util";
import { currentRequestId } from "#lib/core/current-request";
import { log, withoutQuotations } from "#lib/core/log";

const levels = { error: "error", warn: "warn", log: "info", info: "info", debug: "debug", trace: "debug" } as const;

/** Turns console output and Node's warnings into log lines. */
export function logConsole(): void {
  for (const [method, level] of Object.entries(levels)) {
    console[method as keyof typeof levels] = (...values: unknown[]) => {
      const error = values.find((value) => value instanceof Error);
      log[level]({ requestId: currentRequestId(), ...aboutError(error) }, describe(values));
    };
  }
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log.warn({ warning: warning.name }, describe([warning])));
}

function aboutError(error: Error | undefined): object {
  if (!error) return {};
  const { name, stack = "", digest } = error as Error & { digest?: string };
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return { error: name, digest, stack: frames.map((line) => line.trim()) };
}

const maxLength = 500;

/** Quoted text may come from a request (a header, part of a body), so it is left out, as are objects. */
function describe(values: unknown[]): string {
  const texts = values.map((value) => {
    if (value instanceof Error) return value.message;
    return typeof value === "object" || typeof value === "function" ? "" : String(value);
  });
  return withoutQuotations(stripVTControlCharacters(texts.filter(Boolean).join(" ")))
    .replace(/spoor_\w+/g, "spoor_…")
    .slice(0, maxLength)
    .trim();
}
