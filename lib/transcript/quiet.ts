import { readCommands } from "#lib/transcript/files/commands";
import type { PartKind, ReaderRow, RowPart } from "#lib/transcript/message";
import { formatQuantity } from "#lib/transcript/text";

/** The smallest run of quiet rows that folds into one. */
const minGroup = { rows: 3, tools: 2 };

const quiet: Partial<Record<PartKind, [one: string, many: string]>> = {
  read: ["read", "reads"],
  search: ["search", "searches"],
  web: ["web look-up", "web look-ups"],
  shell: ["command", "commands"],
  thinking: ["thought", "thoughts"],
};

/** Programs that only read, whatever their arguments. */
const looking = new Set(
  "basename cat cd cut df diff dirname du echo egrep fgrep file grep head jq ls nl ps pwd realpath rg stat tail tr tree uniq wc which whoami".split(
    " ",
  ),
);
const lookingGit = new Set(
  "blame describe diff grep log ls-files merge-base rev-list rev-parse shortlog show status".split(" "),
);

const maxCommand = 2000;

/** False for any command that is not understood. */
export function onlyLooks(command: string): boolean {
  const commands = command.length <= maxCommand ? readCommands(command) : undefined;
  if (!commands || commands.length === 0) return false;
  return commands.every(({ words: [program = "", ...rest], outputs }) => {
    if (outputs.some(({ path }) => path !== "/dev/null")) return false;
    if (program === "git") return lookingGit.has(getSubcommand(rest)) && !rest.includes("--output");
    if (program === "sed")
      return rest[0] === "-n" && !rest.some((word) => word === undefined || /^(?:-i|--in-place)/.test(word));
    if (program === "find" || program === "fd")
      return rest.every((word) => !/^(?:-exec|-ok|-delete|-f(?:print|ls)|-x$|-X$|--exec)/.test(word ?? ""));
    if (program === "sort") return !rest.some((word) => /^(?:-o|--output)/.test(word ?? ""));
    return looking.has(program);
  });
}

function getSubcommand(words: (string | undefined)[]): string {
  let at = 0;
  for (; words[at]?.startsWith("-"); at += 1) if (words[at] === "-C" || words[at] === "-c") at += 1;
  return words[at] ?? "";
}

const isQuietPart = ({ kind, status, blocks }: RowPart): boolean => {
  if (blocks.some(({ type }) => type === "pictures")) return false; // a picture is a reason to look
  if (kind !== "shell") return quiet[kind] !== undefined;
  const [command] = blocks;
  return status === "ok" && command?.type === "code" && onlyLooks(command.text);
};

const isQuiet = ({ parts, failed }: ReaderRow) => !failed && parts.every(isQuietPart);
const isTool = ({ parts }: ReaderRow) => parts.some(({ kind }) => kind !== "thinking");

export function groupQuiet(rows: ReaderRow[]): ReaderRow[] {
  const grouped: ReaderRow[] = [];
  let run: ReaderRow[] = [];
  const end = () => {
    const isGroup = run.length >= minGroup.rows && run.filter(isTool).length >= minGroup.tools;
    grouped.push(...(isGroup ? [toGroupRow(run)] : run));
    run = [];
  };
  for (const row of rows) {
    if (isQuiet(row)) run.push(row);
    else {
      end();
      grouped.push(row);
    }
  }
  end();
  return grouped;
}

export const addTokens = (one: number | null, other: number | null): number | null =>
  one === null ? other : one + (other ?? 0);

function toGroupRow(members: ReaderRow[]): ReaderRow {
  const parts = members.flatMap((member) => member.parts);
  const title = Object.entries(quiet)
    .map(([kind, names]) => [parts.filter((part) => part.kind === kind).length, names] as const)
    .filter(([count]) => count > 0)
    .map(([count, names]) => formatQuantity(count, ...names))
    .join(", ");
  const note = listReadFiles(parts);
  const [first] = members as [ReaderRow];
  return {
    ...first,
    kind: "group",
    positions: members.flatMap(({ positions }) => positions),
    tokenCount: members.map(({ tokenCount }) => tokenCount).reduce(addTokens, null),
    parts: [{ kind: "read", title, ...(note && { note }), blocks: [] }],
    members: members.map((member) => ({ ...member, gapBefore: null })),
  };
}

const maxNames = 6;

function listReadFiles(parts: RowPart[]): string {
  const read = parts.filter(({ kind }) => kind === "read").map(({ title }) => title.slice(title.lastIndexOf("/") + 1));
  const names = [...new Set(read)].filter((name) => name !== "").map((name) => name.slice(0, 80));
  return [...names.slice(0, maxNames), ...(names.length > maxNames ? ["…"] : [])].join(", ");
}
