import { EnvError, UsageError } from "#lib/core/errors";

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A second signal ends the process immediately. */
export function listenForStop(): AbortSignal {
  const request = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(130));
      request.abort();
    });
  }
  return request.signal;
}

/** A usage error exits with 2, any other failure with 1. */
export async function runCommand(command: () => Promise<unknown>): Promise<never> {
  try {
    const code = await command();
    process.exit(typeof code === "number" ? code : 0);
  } catch (error) {
    warn(describe(error));
    process.exit(isUsage(error) ? 2 : 1);
  }
}

const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS_");

function describe(error: unknown): string {
  if (!(error instanceof Error) || error instanceof EnvError || isUsage(error)) return (error as Error).message;
  return error.stack ?? error.message;
}
