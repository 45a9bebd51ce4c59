import { limits } from "#lib/limits";

/**
 * What agents write into a user's turn by themselves: the echo of a command and of its output, the caveat before them, that
 * the user interrupted, what an editor or a hook adds.
 */
const echo =
  /^(?:<(?:command-(?:name|message|args|contents)|local-command-\w+|bash-(?:input|stdout|stderr)|system-reminder|task-notification|ide_\w+|user-prompt-submit-hook|environment_context|user_instructions)\b[^>]*>|Caveat: The messages below were generated|\[Request interrupted by user|\[Image: )/;

/** The echo of a command of the user's own making. The next message is what it stands for, which nobody typed. */
const ownCommand = /^\s*<command-message>/;

const commandName = /<command-name>\s*([^<\s][^<\r\n]*?)\s*<\/command-name>/;
const commandArguments = /<command-args>\s*([^<\s][^<\r\n]*?)\s*<\/command-args>/;

/** The first line that a person wrote in a message; undefined in an empty one and in what an agent wrote by itself. */
export function humanLine(text: string): string | undefined {
  if (ownCommand.test(text)) return calledCommand(text);
  const line = firstLine(text);
  return line && !echo.test(line) ? line : undefined;
}

/** What the echo of a command says was called, such as `/review 266`; undefined for everything else. */
export function calledCommand(text: string): string | undefined {
  const name = echo.test(firstLine(text) ?? "") ? commandName.exec(text)?.[1] : undefined;
  return name && cut([name, commandArguments.exec(text)?.[1]].filter(Boolean).join(" "));
}

/** The first line with something in it. */
export function firstLine(text: string): string | undefined {
  const line = /\S[^\r\n]*/.exec(text)?.[0].trim();
  return line && cut(line);
}

const cut = (line: string) => line.slice(0, limits.trace.title).toWellFormed();
