import { createReadStream } from "node:fs";
import { findSecrets, type Secret } from "../../common/secrets/find-secrets.ts";
import { type Context, stringValue } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { program } from "../program.ts";
import { kindName } from "../redact/describe.ts";
import { formatBytes, formatCount } from "../terminal/format.ts";

/** The whole file has to fit into memory. */
const maxBytes = 256 * 1024 * 1024;

/** @returns 1 if `push` would mask a secret */
export async function redact(context: Context): Promise<number> {
  const { terminal } = context;
  const path = stringValue(context, "check");
  if (path === undefined) throw new CommandError("usage", `redact takes --check FILE. See: ${program} redact --help`);
  const text = await readText(path);
  const found = locateSecrets(text, findSecrets(text));
  for (const { line, column, kind, certain } of found) {
    terminal.say(`${path}:${line}:${column}  ${kindName(kind)}${certain ? "" : " (likely: not masked)"}`);
  }
  const masked = found.filter(({ certain }) => certain).length;
  const likely = found.length - masked;
  terminal.say(
    found.length === 0
      ? "No secret was found."
      : `${formatCount(masked, "secret")} would be masked${likely > 0 ? `, ${formatCount(likely, "likely one")} left as it is` : ""}.`,
  );
  terminal.json({ path, secrets: found });
  return masked > 0 ? exitCodes.failed : exitCodes.done;
}

type LocatedSecret = { line: number; column: number; kind: string; certain: boolean };

function locateSecrets(text: string, secrets: readonly Secret[]): LocatedSecret[] {
  let [line, from, at] = [1, 0, 0];
  return secrets.map(({ start, kind, certain }) => {
    for (let end = text.indexOf("\n", at); end !== -1 && end < start; end = text.indexOf("\n", at)) {
      line += 1;
      from = at = end + 1;
    }
    return { line, column: start - from + 1, kind, certain };
  });
}

async function readText(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of path === "-" ? process.stdin : createReadStream(path)) {
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes > maxBytes) throw new CommandError("failed", `${path} is larger than ${formatBytes(maxBytes)}.`);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError("failed", `${path} can't be read: ${(error as Error).message}`);
  }
  return Buffer.concat(chunks).toString("utf8");
}
