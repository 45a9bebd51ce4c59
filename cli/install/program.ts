import { readFile } from "node:fs/promises";
import type { Host } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import { CommandError } from "../errors.ts";
import { running } from "../program.ts";
import { formatBytes } from "../terminal/format.ts";
import { computeSha256, type PlannedFile } from "./files.ts";
import { findNode, getPlaces, getRunningFile, isNpmFile } from "./places.ts";
import { quoteCmd, quoteSh } from "./tools.ts";

export type Program = {
  files: PlannedFile[];
  words: (hasLauncher: boolean) => string[];
};

/** @throws CommandError if this client runs from its source */
export async function planProgram(host: Host): Promise<Program> {
  const file = getRunningFile();
  const node = await findNode(host);
  if (isNpmFile(file)) return { files: [], words: () => [node, file] };
  if (running.version === "source") {
    throw new CommandError("usage", "This client runs from its source. Install a server's client instead.");
  }
  const { client, launcher } = getPlaces(host);
  const isWindows = host.platform === "win32";
  const text = await readFile(file, "utf8");
  return {
    files: [
      {
        path: client,
        text,
        mode: 0o644,
        summary: `a copy of ${file}, version ${running.version}, ${formatBytes(Buffer.byteLength(text))}, SHA-256 ${computeSha256(text)}`,
      },
      { path: launcher, text: (isWindows ? batch : script)(node, client), mode: 0o755 },
    ],
    words: (hasLauncher) => (hasLauncher && !isWindows ? [launcher] : [node, client]),
  };
}

/** A removed Node version is replaced by another Node. */
const script = (node: string, client: string): string => `#!/bin/sh
# Made by \`spoor install\`; \`spoor uninstall\` removes it.
for node in ${quoteSh(node)} "$(command -v node)" /opt/homebrew/bin/node /usr/local/bin/node /usr/bin/node; do
  [ -x "$node" ] && exec "$node" ${quoteSh(client)} "$@"
done
echo "spoor: there is no Node.js. Install it (20 or later), and try again." >&2
exit 1
`;

/** Uses the script's own folder, because the console's code page may lack letters of the path. */
const batch = (node: string): string =>
  [
    "@echo off",
    "rem Made by `spoor install`; `spoor uninstall` removes it.",
    "setlocal",
    `set ${quoteCmd(`node=${node}`)}`,
    'if not exist "%node%" set "node=node"',
    '"%node%" "%~dp0..\\client.mjs" %*',
    "",
  ].join("\r\n");

/** Variables of the client and Node, in addition to the adapters' folders. Never a token. */
const variables = [
  ...["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "LOCALAPPDATA", "DO_NOT_TRACK"],
  ...["NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "NODE_USE_ENV_PROXY"],
  ...["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"],
];

export function collectEnvironment(host: Host): Record<string, string> {
  const own = adapters.flatMap((adapter) => adapter.getSearchRoots(host).map(({ variable }) => variable));
  const names = [...new Set([...variables, ...own])].sort();
  return Object.fromEntries(
    names.flatMap((name) => (name !== undefined && host.env[name] ? [[name, host.env[name]]] : [])),
  );
}
