import type { ToolResult } from "#lib/transcript/call";
import type { Status } from "#lib/transcript/message";

export type Outcome = { status: Status; output: string; exitCode?: number; durationMs?: number };

const declined =
  /^(?:The user doesn't want to (?:proceed|take this action)|User rejected|\[Request interrupted by user|aborted by user)/;
const codexHeader =
  /^(?:Chunk ID: [^\n]*\n)?(?:Wall time: ([\d.]+) seconds\n)?(?:Process exited with code (-?\d+)\n|Process running with session ID [^\n]*\n)?(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n/;
const codexExec = /^Exit code: (-?\d+)\nWall time: ([\d.]+) seconds\n(?:Total output lines: \d+\n)?Output:\n/;
const codexScript =
  /^Script (completed|failed|terminated|running with cell ID [^\n]{1,40})\nWall time ([\d.]+) seconds\nOutput:\n\n?/;

export function readOutcome(result: ToolResult | undefined): Outcome {
  if (!result) return { status: "pending", output: "" };
  const read = readOutput(result.output);
  const exitCode = result.exitCode ?? read.exitCode;
  const durationMs = result.durationMs ?? read.durationMs;
  const failed = result.failed || read.status === "failed" || (exitCode !== undefined && exitCode !== 0);
  return {
    status: read.status === "rejected" ? "rejected" : failed ? "failed" : "ok",
    output: read.output,
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

function readOutput(output: string): Outcome {
  const text = output.trimStart();
  if (declined.test(text)) return { status: "rejected", output };
  const header = codexHeader.exec(text);
  if (header?.[0].includes("\n") && (header[1] ?? header[2]) !== undefined)
    return withCode(text.slice(header[0].length), header[2], header[1]);
  const exec = codexExec.exec(text);
  if (exec) return withCode(text.slice(exec[0].length), exec[1], exec[2]);
  const script = codexScript.exec(text);
  if (script) {
    const read = withCode(text.slice(script[0].length), undefined, script[2]);
    return script[1] === "failed" ? { ...read, status: "failed" } : read;
  }
  const [line, code] = /^Exit code:? (-?\d{1,10})(?:\n|$)/.exec(text) ?? [];
  if (line !== undefined) return withCode(text.slice(line.length), code, undefined);
  if (text.startsWith("<tool_use_error>"))
    return { status: "failed", output: text.replace(/<\/?tool_use_error>/g, "").trim() };
  return { status: /^(?:Error|error|ERROR): /.test(text) ? "failed" : "ok", output };
}

function withCode(output: string, code: string | undefined, seconds: string | undefined): Outcome {
  const exitCode = code === undefined ? undefined : Number(code);
  return {
    status: exitCode === undefined || exitCode === 0 ? "ok" : "failed",
    output,
    ...(exitCode !== undefined && { exitCode }),
    ...(seconds !== undefined && { durationMs: Math.round(Number(seconds) * 1000) }),
  };
}
