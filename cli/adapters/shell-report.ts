/** What Gemini CLI and its descendants write below a command's output, at the end of the result. */
const ending =
  /(?:^|\n)Exit Code: (-?\d{1,10})(?:\n(?:Signal|Background PIDs|Process Group PGID): [^\n]*)*(?:\n<\/untrusted_context>)?\s*$/;

/** No ending is longer; a long output may be a stranger's. */
const maxEndingChars = 10_000;

/** @returns the exit code that the result of a tool of theirs reports, where the tool ran a command */
export function exitCodeIn(tool: unknown, output: string): number | undefined {
  const code = tool === "run_shell_command" ? ending.exec(output.slice(-maxEndingChars))?.[1] : undefined;
  return code === undefined ? undefined : Number(code);
}
