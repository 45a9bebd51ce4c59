import { join, resolve } from "node:path";
import { commandVariable } from "#lib/core/variables/operator-command";

const command = "spoor-server";

const help = `Usage: ${command} [COMMAND]

Without a command it starts everything: PostgreSQL, unless DATABASE_URL is set, then the worker and the web server. It
prints a link that creates the first account. Ctrl-C stops it.

Commands:
  web          start the web server only
  worker       start a worker only
  migrate      bring the database to this version, then exit
  admin        manage accounts, prices and keys: ${command} admin --help
  move         take the database to a server, or to a newer PostgreSQL: ${command} move --help
  distribute   spread the tables over the nodes of a cluster: ${command} distribute --help

Options:
  --help       print this text
  --version    print the version

Settings are environment variables. The ones you are most likely to need:
  PORT           the port to listen on (3000)
  BASE_URL       the address under which others reach the server (http://localhost:3000)
  DATA_DIR       the folder of the database and the generated secrets (DEFAULT_FOLDER)
  DATABASE_URL   a PostgreSQL of your own, 15 or later; then AUTH_SECRET is needed, too
`;

const programs: Record<string, string> = {
  ...{ all: "start", web: "start", worker: "start", migrate: "start" },
  ...{ admin: "admin", move: "move", distribute: "distribute" },
};

export type CallPlace = {
  platform: NodeJS.Platform;
  home: string;
  folder: string;
  variables: Record<string, string | undefined>;
};

export type Call =
  | { text: string; exitCode: 0 | 2 }
  | { program: string; words: string[]; variables: Record<string, string>; note: string | undefined };

/** The package's own folder may be deleted at any time. */
function dataFolder({ platform, home, variables }: CallPlace): string {
  if (platform === "win32") return join(variables.LOCALAPPDATA || join(home, "AppData", "Local"), command);
  return join(variables.XDG_DATA_HOME || join(home, ".local", "share"), command);
}

/** Paths are relative to the folder of the call. */
export function readCall(words: string[], place: CallPlace, version: string): Call {
  const [name = "all", ...rest] = words;
  const { folder, variables } = place;
  if (["help", "--help", "-h"].includes(name)) {
    return { text: help.replace("DEFAULT_FOLDER", dataFolder(place)), exitCode: 0 };
  }
  if (["version", "--version", "-v"].includes(name)) return { text: `${version}\n`, exitCode: 0 };
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (!program) return { text: `Unknown command "${name}". ${command} --help lists the commands.\n`, exitCode: 2 };
  const isProcess = program === "start";
  if (isProcess && rest.includes("--help")) return readCall(["--help"], place, version);
  if (isProcess && rest.length > 0) {
    return { text: `"${name}" does not accept "${rest[0]}". See: ${command} --help\n`, exitCode: 2 };
  }
  const DATA_DIR = resolve(folder, variables.DATA_DIR || dataFolder(place));
  const files = ["PRICES_FILE", "ENCRYPTION_KEY_FILE"].flatMap((key) => {
    const path = variables[key];
    return path ? [[key, resolve(folder, path)]] : [];
  });
  return {
    program,
    words: isProcess ? [name] : rest.map((word, index) => withWholePath(word, rest[index - 1], folder)),
    variables: { ...Object.fromEntries(files), DATA_DIR, [commandVariable]: command },
    note: isProcess && !variables.DATABASE_URL ? `The data is in ${DATA_DIR}` : undefined,
  };
}

/** Only `--programs` of `move` takes a folder. */
function withWholePath(word: string, former: string | undefined, folder: string): string {
  if (former === "--programs") return resolve(folder, word);
  const [, path] = /^--programs=(.*)$/.exec(word) ?? [];
  return path === undefined ? word : `--programs=${resolve(folder, path)}`;
}
