import { type FileChange, listPatchChanges } from "#lib/transcript/files/changed";
import { type Command, readCommands } from "#lib/transcript/files/commands";
import { readFilePatches } from "#lib/transcript/files/patches";
import { type Fields, isObject } from "#lib/transcript/tools/describe";

export type ShellChange = FileChange & { folder: string | undefined };

const worthReading = /\b(?:rm|mv|sed|cat|tee|apply_patch)\b|\*\*\* Begin Patch/;

/** Returns only changes that certainly happened; variables, patterns, conditions and possible folders are left out. */
export function shellChanges(name: string, input: Fields, output: string): ShellChange[] {
  const listed = [input.command, input.cmd].find(Array.isArray);
  if (listed?.[0] === "apply_patch") return patched(String(listed[1]), folderIn(input));
  const script = getScript(input, listed);
  if (!worthReading.test(script)) return [];
  if (name === "exec" && typeof input.input === "string") return patchedByScript(input.input, output);
  const commands = readCommands(script);
  if (!commands) return [];
  const tellsFailure = /2>|&>/.test(script) || failure.test(output);
  let folder = folderIn(input);
  return commands.flatMap((command, at) => {
    if (command.words[0] === "cd") {
      const [, to] = command.words;
      const isClear = command.words.length === 2 && to !== undefined && to !== "-" && command.end === "&&";
      folder = isClear ? (/^(?:[/~]|[A-Za-z]:)/.test(to) || folder === undefined ? to : `${folder}/${to}`) : unknown;
      return [];
    }
    const rest = commands.slice(at);
    const ran = isAlone(commands, at) && (rest.slice(0, -1).every(({ end }) => end === "&&") || !tellsFailure);
    return ran && folder !== unknown ? findCommandChanges(command).map((change) => ({ ...change, folder })) : [];
  });
}

const unknown = "\0";
const failure =
  /\b(?:bash|zsh|sh|rm|mv|cat|tee|sed|git|fatal|error|Error|ERROR)(?: line \d+)?: |No such file|ermission denied|annot /;

function isAlone(commands: Command[], at: number): boolean {
  if (commands[at]?.end === "other") return false;
  const before = commands[at - 1];
  return before === undefined || before.end !== "other";
}

function getScript(input: Fields, listed: unknown[] | undefined): string {
  if (listed) return /^(?:.*\/)?(?:ba|z)?sh$/.test(String(listed[0])) && listed.length === 3 ? String(listed[2]) : "";
  const script = input.command ?? input.cmd ?? input.CommandLine ?? input.script ?? input.input;
  return typeof script === "string" ? script : "";
}

const folderIn = (input: Fields): string | undefined =>
  [input.workdir, input.working_directory, input.cwd, input.Cwd, input.dir_path, input.directory].find(
    (value) => typeof value === "string" && value !== "",
  ) as string | undefined;

function findCommandChanges({ words, heredocs, outputs }: Command): FileChange[] {
  const [program, ...rest] = words;
  const [heredoc] = heredocs;
  if (program === "apply_patch" || program === "applypatch") return patched(heredoc?.text ?? rest[0] ?? "", undefined);
  if (words.some((word) => word === undefined)) return [];
  const given = rest as string[];
  switch (program) {
    case "rm":
      return given.every((word) => !/^-[^-]*[rRfd]|^--(?!$)/.test(word)) ? deleted(given) : [];
    case "mv":
      return moved(given);
    case "git":
      if (given[0] === "mv") return moved(given.slice(1));
      return given[0] === "rm" && given.slice(1).every((word) => !/^-[^-]*r|^--(?!$)/.test(word))
        ? deleted(given.slice(1))
        : [];
    case "sed":
      return edited(given);
    case "cat":
      return given.length === 0 && heredoc && heredocs.length === 1 && outputs.length === 1
        ? written(
            outputs.flatMap(({ path, appends }) => (path ? [{ path, appends }] : [])),
            heredoc,
          )
        : [];
    case "tee": {
      const paths = operands(given).map((path) => ({ path, appends: given.includes("-a") }));
      return heredoc && heredocs.length === 1 ? written(paths, heredoc) : [];
    }
    default:
      return [];
  }
}

function operands(words: string[]): string[] {
  const end = words.indexOf("--");
  const isOperand = (word: string, at: number) => (end !== -1 && at > end) || (word !== "--" && !/^-./.test(word));
  return words.filter(isOperand);
}

const isDevice = (path: string) => /^\/(?:dev|proc)\//.test(path);

const deleted = (words: string[]): FileChange[] =>
  operands(words).map((path) => ({ path, action: "delete", pieces: [] }));

const getEnding = (path: string) => /[^/.]\.(\w{1,12})$/.exec(path)?.[1]?.toLowerCase();

/** Any other target may be a folder. */
function moved(words: string[]): FileChange[] {
  if (words.some((word) => /^-[^-]*[tTn]|^--(?!$)/.test(word))) return [];
  const paths = operands(words);
  const to = paths.pop() ?? "";
  const isInto = to.endsWith("/") || paths.length > 1;
  return paths.flatMap((from): FileChange[] => {
    const ending = getEnding(from);
    if (ending === undefined || (!isInto && getEnding(to) !== ending)) return [];
    const path = isInto ? `${to.replace(/\/$/, "")}/${from.slice(from.lastIndexOf("/") + 1)}` : to;
    return [
      { path: from, action: "delete", pieces: [] },
      { path, action: "write", pieces: [] },
    ];
  });
}

function edited(words: string[]): FileChange[] {
  const inPlace = words.findIndex((word) => /^(?:-[nEr]*i\S*|--in-place(?:=.*)?)$/.test(word));
  if (inPlace === -1 || words.some((word) => /^-[nEr]*[ef]|^--(?:expression|file)/.test(word))) return [];
  // BSD's `sed -i` takes the backup's ending as a separate word, which may be empty.
  const rest = words.filter((word, at) => at !== inPlace && !(at === inPlace + 1 && word === "") && !/^-./.test(word));
  return rest.slice(1).map((path) => ({ path, action: "edit", pieces: [] }));
}

function written(
  targets: { path: string; appends: boolean }[],
  { isRaw, text }: { isRaw: boolean; text: string },
): FileChange[] {
  const pieces = isRaw || !/[$`\\]/.test(text) ? [{ before: "", after: text }] : [];
  return targets
    .filter(({ path }) => !isDevice(path))
    .map(({ path, appends }) => ({ path, action: appends ? "edit" : "write", pieces }));
}

const patched = (text: string, folder: string | undefined): ShellChange[] =>
  (readFilePatches(text) ?? []).flatMap(listPatchChanges).map((change) => ({ ...change, folder }));

const literal = /"(?:[^"\\]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{))*`/gs;

/** Newer versions of Codex call `apply_patch` from a script with the patch as a literal. */
function patchedByScript(script: string, output: string): ShellChange[] {
  if (!/Success\. Updated the following files/.test(output) || script.length > 500_000) return [];
  const literals = [...script.matchAll(literal)]
    .map(([text]) => text)
    .filter((text) => text.includes("*** Begin Patch"));
  return literals.flatMap((text) => {
    const unescaped = text.startsWith('"')
      ? parsed(text)
      : text.slice(1, -1).replace(/\\n/g, "\n").replace(/\\(.)/g, "$1");
    return patched(unescaped, undefined);
  });
}

function parsed(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? "" : String(value);
  } catch (error) {
    if (error instanceof SyntaxError) return "";
    throw error;
  }
}
