import { limits } from "#lib/limits";

/**
 * Text that agents add to a user's turn: the echo of a command and its output, the caveat before them, the note of an
 * interruption, and what an editor or a hook adds.
 */
const echo =
  /^(?:<(?:command-(?:name|message|args|contents)|local-command-\w+|bash-(?:input|stdout|stderr)|system-reminder|task-notification|ide_\w+|user-prompt-submit-hook|environment_context|user_instructions)\b[^>]*>|Caveat: The messages below were generated|\[Request interrupted by user|\[Image: )/;

/** The echo of a custom command. The next message is its expansion, which nobody typed. */
const ownCommand = /^\s*<command-message>/;

const commandName = /<command-name>\s*([^<\s][^<\r\n]*?)\s*<\/command-name>/;
const commandArguments = /<command-args>\s*([^<\s][^<\r\n]*?)\s*<\/command-args>/;

/** The first line that a person wrote in a message; undefined if it is empty or was added by an agent. */
export function humanLine(text: string): string | undefined {
  if (ownCommand.test(text)) return calledCommand(text);
  const line = firstLine(text);
  return line && !echo.test(line) ? line : undefined;
}

/** The command in the echo of one, with its arguments, such as `/review 266`; undefined for any other text. */
export function calledCommand(text: string): string | undefined {
  const name = echo.test(firstLine(text) ?? "") ? commandName.exec(text)?.[1] : undefined;
  return name && cut([name, commandArguments.exec(text)?.[1]].filter(Boolean).join(" "));
}

/** The first line that is not blank. */
export function firstLine(text: string): string | undefined {
  const line = /\S[^\r\n]*/.exec(text)?.[0].trim();
  return line && cut(line);
}

const cut = (line: string) => line.slice(0, limits.trace.title).toWellFormed();

/**
 * A title with its rank: 1 is a line that a person wrote, 2 a command that was called, 3 the first line of a user message. Of
 * two parts of a session the lower rank wins, then the earlier part.
 */
export type DerivedTitle = { title: string; rank: 1 | 2 | 3 };

/** The title of a session, by the beginnings of its users' messages in their order; undefined where they are blank. */
export function titleOf(texts: Iterable<string>): DerivedTitle | undefined {
  let command: string | undefined;
  let first: string | undefined;
  for (const text of texts) {
    const line = humanLine(text);
    if (line) return { title: line, rank: 1 };
    command ??= calledCommand(text);
    first ??= firstLine(text);
  }
  if (command) return { title: command, rank: 2 };
  return first ? { title: first, rank: 3 } : undefined;
}
