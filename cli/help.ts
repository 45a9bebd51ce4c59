import { program, running } from "./program.ts";

const commandHelp = {
  install: `Put \`spoor\` on your PATH, log this machine in, and keep sending in the background: a systemd user service, a
launchd agent, or a scheduled task. If Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, OpenCode or Pi is
installed, it also sends when a session or turn ends. Shows each file before writing it, and asks. Run it again at
any time; uninstall undoes everything.

  --yes              write without asking (your own files are not replaced)
  --dry-run          only show the files
  --no-service       no background service
  --no-hooks         don't change the agents' settings
  --no-login         don't log in
  --no-auto-update   the service doesn't update itself (--auto-update: it does)
  --machine, --scopes, --no-browser  as in login`,
  uninstall: `Stop the background service, and remove the files and agents' settings that install wrote. Files that you
changed since are kept and listed. If install logged this machine in, it is logged out.

  --yes              don't ask
  --dry-run          only list what would be removed`,
  service: `Control the background service that install set up.

  spoor service status   show whether it is running, its last report and its problems (exit code 1: not running)
  spoor service start    start it, now and at each login
  spoor service stop     stop it until \`start\`
  spoor service logs     print its last lines; --lines 200 for more, --follow to keep printing`,
  update: `Update this program to your server's version. Verifies the server's SHA-256 and starts the new program before
replacing this one. Only updates from the server that delivered this program and that you are logged in to. The
background service updates every six hours over https; see install --no-auto-update.

  --check            only check for an update
  --allow-older      install an older version without asking`,
  login: `Log this machine in. Opens your browser, where you approve the login. The token is stored in your
settings file, which only you can read.

  --machine NAME     this machine's name on the server (default: the one it had, or its host name)
  --scopes LIST      requested scopes: ingest (send), read, delete, originals (exact copies) (default: ingest,read, and
                     originals while exact copies are on)
  --no-browser       only print the address

  spoor login --server https://spoor.example.org`,
  logout: `Revoke this machine's token and remove it from the settings. Sessions already sent stay on the server.`,
  whoami: `Show the logged-in account and when its token expires.`,
  scan: `Count the sessions of every agent on this machine, without sending them. If you are logged in, the
counts are sent to your server as telemetry.

  --source NAME      only this agent; may be repeated
  --show-telemetry   print the complete telemetry report
  --no-telemetry     send no telemetry (so does DO_NOT_TRACK=1)

Columns: Skipped are lines that belong to no message, Rejected are sessions that can't be sent,
Unhandled are line types that this client does not know, Invalid are lines that can't be parsed.`,
  projects: `List the projects on this machine with their sessions, and choose which ones are sent.

  projects                   list sent and excluded projects (the last 20 of 25 or more; all with --all)
  projects exclude GLOB...   neither read nor send these
  projects include GLOB...   send these (again); as the first rule: send only these

A GLOB is a project's name (api, client-*) or a folder with everything below it: ~/code/api, /srv/*, ., **/secret.
The last matching rule counts. '**' matches all projects and replaces earlier rules.
A file .spoorignore in a project's folder also excludes it: completely if empty, or folders below it with lines as in
.gitignore.

  spoor projects exclude '~/clients/*'`,
  push: `Send every session that is new or has changed, and wait until it is archived. You can stop it at any
time and run it again: nothing is lost or stored twice.

  FILE...            send these JSON Lines files instead, such as an export
  --since WHEN       only files changed since a date (2026-11-01) or within a time span (30m, 24h, 7d)
  --source NAME      only this agent or source; may be repeated
  --project NAME     only this project, by its name or folder; may be repeated
  --dry-run          only list what would be sent
  --replace ID       replace a longer version on the server with this machine's; may be repeated
  --yes              don't ask before the first push from this machine
  --no-redact        send secrets unmasked
  --no-telemetry     send no telemetry (so does DO_NOT_TRACK=1)

The first push shows what it will send, by project, and asks. Without a terminal or with --json it doesn't ask.

  spoor push --since 7d --project ~/code/api`,
  watch: `Send new and changed sessions, then keep running and send what your agents write within seconds. Waits
while the server is unavailable. Takes --since, --source, --project and --no-redact like push; sends no telemetry.`,
  originals: `Keep exact copies of your sessions' files on the server, to continue a session on another machine. This
machine encrypts them with a key that the server never has. Secrets in them are not masked.
Exact copies are off by default. They include sessions of Claude Code, Codex, Gemini CLI and OpenCode that are also sent.

  spoor originals on            create a key, or trust the key of your first machine, and start sending copies
  spoor originals off           stop sending copies; stored copies stay on the server
  spoor originals status        show whether copies are on, the key, and the number of copies on the server
  spoor originals verify        download and decrypt ten copies, and compare them with the files on this machine
  spoor originals key show      show the key's fingerprint and the public key
  spoor originals key export [FILE]   print the recovery phrase, or write the key to a file encrypted with a passphrase
  spoor originals key import [FILE]   read the key from the phrase or such a file, or trust a public key (age1...)

  --project GLOB     on, off: only these projects, as in \`spoor projects\`; may be repeated
  --yes              on: do not ask for the phrase, or whether to trust a key
  --new-key          on: replace a lost key; copies made with the old key can't be decrypted without it
  --all              verify: all copies
  --machine, --scopes, --no-browser  as in login

Anyone with the phrase can read all copies. If you lose both the phrase and the key, nobody can decrypt the copies.

  spoor originals on --project '~/code/*'`,
  redact: `List the secrets in a file (- for standard input) that push would mask, by line and kind, without showing them.
Exit code 1: secrets were found.

Private keys, tokens of known services, passwords in URLs and in environment files are masked. A masked secret becomes
[redacted:github:1f0c22ab], always the same for the same secret on this machine. Possible secrets are listed here, but
not masked.

  spoor redact --check .env`,
  config: `Show the settings of this machine, or change one.

  spoor config                   show the settings
  spoor config redact on|off     mask secrets before sessions are sent (default: on)
  spoor config pictures on|off [GLOB...]   send pictures in messages (default: on)

Pictures that you pasted or a tool returned are sent unmasked, up to 5 MiB and 50 million pixels each. With a GLOB (see
projects), the setting applies to some projects; the last matching rule counts.

  spoor config pictures off '~/clients/*'`,
  recall: `Search past sessions on the server for an error. Prints the three best places with time, session, the final answer
and a link. Quote the text so that your shell doesn't interpret it.

  --project NAME     only this project

  spoor recall "TypeError: timer.unref is not a function"`,
  resume: `Resume a session here: from any machine, in any folder, even if the agent has deleted it. Without an ID, lists the
sessions that have an exact copy on the server (see: spoor originals); pick one with the arrow keys.

  ID or words        a session's ID, or words from its title, project or conversation
  --clean            start a new session without thoughts, for another account: from the exact copy, or else the archive
  --told AGENT       print a summary as a first prompt for claude, codex, gemini or opencode
  --run              start the agent
  --source NAME, --project NAME  only this agent, only this project
  --force            rename a different file that is already there
  --any-version      resume even if this agent is older than the one that wrote the session
  --repair           copy a local Claude Code session, then remove the thoughts that the API refuses

The exact copy is restored byte for byte, for the current folder. Existing files are never overwritten.

  spoor resume retry timer --project api`,
  mcp: `Let an agent read your sessions on the server, over the Model Context Protocol on standard input and output. For
agents that don't support HTTP: configure \`spoor mcp\` as a server's command. It uses this machine's login, which needs
the scope read.`,
  status: `Show whether sessions are sent in the background, any problems, and this machine's last 20 uploads with their
status.`,
  doctor: `Check the server, the login, the clock, the settings, the agents' folders, and write access.`,
} as const;

export type CommandName = keyof typeof commandHelp;

export const commandNames = Object.keys(commandHelp) as CommandName[];

const commonOptions = `  --server URL       the server (default: SPOOR_URL, or the server that this file came from)
  --insecure         use plain http to another machine without asking first
  --patience SECONDS how long to retry while the server is unavailable (default: 300)
  --json             print the result as JSON
  --no-color         print without colors (so does NO_COLOR=1)
  --help, --version`;

const exitCodeHelp = `Exit codes: 0 done, 1 failed, 2 usage error, 3 not logged in, 4 server unavailable,
5 some sessions could not be sent (each is listed), 130 interrupted.`;

const columns = 80;

export function formatHelp(name?: CommandName): string {
  return wrap(composeHelp(name).replace(/\bspoor(?= [a-z]+\b(?!:))/g, program), columns);
}

const words: Partial<Record<CommandName, string>> = {
  push: " [FILE...]",
  recall: " TEXT",
  resume: " [ID or words]",
  projects: " [include|exclude GLOB...]",
  config: " [redact|pictures on|off [GLOB...]]",
  service: " status|start|stop|logs",
  redact: " --check FILE",
  originals: " on|off|status|verify|key",
};

function composeHelp(name: CommandName | undefined): string {
  if (name)
    return `spoor ${name} [options]${words[name] ?? ""}\n\n${commandHelp[name]}\n\nOptions and exit codes of every command: see ${program} --help`;
  return `spoor ${running.version}: sends your coding-agent sessions to a Spoor server.

Get started:
  spoor install      log this machine in, and send its sessions in the background

More commands:
  spoor login        log this machine in, in your browser
  spoor push         send every session on this machine
  spoor scan         count the sessions on this machine, without sending them
  spoor projects     choose which projects are sent
  spoor watch        send new sessions as they are written
  spoor status       show the last uploads
  spoor whoami       show the logged-in account
  spoor doctor       find out why something does not work
  spoor recall       search past sessions for an error
  spoor resume       resume a session from any machine
  spoor mcp          let an agent read your sessions
  spoor originals    keep exact copies that only you can read
  spoor config       choose whether to mask secrets and send pictures
  spoor redact       list the secrets in a file
  spoor service      status, start, stop and logs of the background service
  spoor update       update to the server's version
  spoor logout       log this machine out
  spoor uninstall    undo install

For details: spoor COMMAND --help

Options of every command:
${commonOptions}

On a machine without a browser, set SPOOR_URL, and SPOOR_TOKEN to a token created on that server's page
/devices. The token is only sent to that server.

${exitCodeHelp}`;
}

/** An option or command and the blanks before its description. */
const labelled = /^(?: {2}\S.*? {2,}| {2}\S.{17} | *)(?=\S)/;

function wrap(text: string, columns: number): string {
  return text
    .replace(/(?<=^\S.*)\n(?=\S)/gm, " ")
    .split("\n")
    .flatMap((line) => wrapLine(line, columns))
    .join("\n");
}

function wrapLine(line: string, columns: number): string[] {
  const [label = ""] = labelled.exec(line) ?? [];
  const indent = " ".repeat(label.length > columns / 2 ? 6 : label.length);
  const lines: string[] = [];
  let current = label;
  for (const word of line.slice(label.length).split(" ")) {
    const longer = current === label || current === indent ? current + word : `${current} ${word}`;
    if (longer.length <= columns || current === indent) current = longer;
    else {
      lines.push(current.trimEnd());
      current = indent + word;
    }
  }
  return [...lines, current];
}
