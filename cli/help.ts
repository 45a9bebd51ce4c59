import { program, running } from "./program.ts";

const commandHelp = {
  install: `Put \`spoor\` on your PATH, log this machine in, and keep sending in the background: a systemd user service, a
launchd agent, or a scheduled task. Where Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, OpenCode or Pi is
there, also have it send when a session or turn ends. Shows each file before it writes it, and asks. Run it again at
any time; uninstall undoes all of it.

  --yes              write all of it without asking (files of your own are left alone)
  --dry-run          only show the files
  --no-service       no background service
  --no-hooks         leave the agents' settings alone
  --no-login         do not log in
  --no-auto-update   the service never replaces its own program (--auto-update: it does again)
  --machine, --scopes, --no-browser  as in login`,
  uninstall: `Stop the background service and remove what install wrote: its files, and what it added to agents'
settings. What you changed since is left as it is, and listed. A login that install began ends.

  --yes              do not ask
  --dry-run          only list what would be removed`,
  service: `The background service that install set up.

  spoor service status   whether it runs, what the server last heard, and what is wrong (exit code 1: it does not run)
  spoor service start    start it, now and at each login
  spoor service stop     stop it until \`start\`
  spoor service logs     its last lines; --lines 200 for more, --follow to keep printing`,
  update: `Replace this program with the one that your server delivers, if it is another one. It has to have the SHA-256
that the server tells, and to run. Programs are taken only from the server that this one came from and that you are
logged in to. The background service does this by itself every six hours, over https; see install --no-auto-update.

  --check            only say whether there is another one
  --allow-older      take an older version without asking`,
  login: `Log this machine in. Opens your browser, where you approve the login. The token is stored in your
settings file, which only you can read.

  --machine NAME     this machine's name on the server (default: its host name)
  --scopes LIST      what to ask for: ingest (send), read, delete, originals (exact copies); you approve it
                     (default: ingest,read, and originals while they are on)
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
  projects: `List the projects on this machine with their sessions, and choose which of them are sent.

  projects                   what was found, and what is left out (of 25 or more the last 20; all with --all)
  projects exclude GLOB...   never send these: they are neither read nor sent
  projects include GLOB...   send these (again); without other rules: these alone

A GLOB is a project's name (api, client-*), or a folder: ~/code/api, /srv/*, ., **/secret. It also means what is below.
Of the rules that match a project the last one counts; '**' means all, and replaces all rules before it.
A file .spoorignore in a project's folder leaves it out, too, whatever the rules say: empty for all of it, or with
lines as in .gitignore for folders below it.

  spoor projects exclude '~/clients/*'`,
  push: `Send every session that is new or has changed, and wait until it is archived. You can stop it at any
time and run it again: nothing is lost or stored twice.

  FILE...            send these JSON Lines files instead, such as an export
  --since WHEN       only files changed since a date (2026-11-01) or within a time span (30m, 24h, 7d)
  --source NAME      only this agent or source; may be repeated
  --project NAME     only this project, by its name or folder; may be repeated
  --dry-run          list what would be sent, and send nothing
  --replace ID       archive this session as it is here, also where the server has more of it; may be repeated
  --yes              do not ask before the first push from this machine
  --no-redact        send secrets as they are, instead of masked
  --no-telemetry     send no telemetry (so does DO_NOT_TRACK=1)

The first push shows what it will send, by project, and asks; where nobody can be asked (no terminal, --json) it sends.

  spoor push --since 7d --project ~/code/api`,
  watch: `Send new and changed sessions, then keep running and send what your agents write within seconds. Waits
while the server is unavailable. Takes --since, --source, --project and --no-redact like push; sends no telemetry.`,
  originals: `Keep exact copies of your sessions' files on the server, from which \`spoor resume\` takes them out again.
Copies are encrypted on this machine, with a key that the server never has, and are not masked.
They are off until you choose, and made of Claude Code's, Codex's, Gemini CLI's and OpenCode's sessions that are sent.

  spoor originals on            make a key, or trust the one of your first machine, and send copies from now on
  spoor originals off           send none any more; those on the server stay
  spoor originals status        whether they are on, with which key, and how many the server has
  spoor originals verify        download ten copies, open them, and compare them with the files here
  spoor originals key show      the key's fingerprint and public key
  spoor originals key export [FILE]   print the recovery phrase, or write the key into a file sealed with a passphrase
  spoor originals key import [FILE]   take the key from the phrase or such a file; or trust a public key (age1...)

  --project GLOB     on, off: only these projects, as in \`spoor projects\`; may be repeated
  --yes              on: do not ask for the phrase, or whether a key is the right one
  --new-key          on: replace a key that is lost; copies under it can't be opened without it
  --all              verify: all copies
  --machine, --scopes, --no-browser  as in login

Whoever has the phrase can read all copies. If you lose both phrase and key, nobody can read them any more.

  spoor originals on --project '~/code/*'`,
  redact: `List the secrets in a file (- for standard input) that push would mask, by line and kind, without showing them.
Exit code 1: there are some.

Private keys, tokens of known services, passwords in URLs and in environment files are masked: a masked one reads
[redacted:github:1f0c22ab], always the same for the same secret on this machine. What only may be a secret is listed
here and left as it is.

  spoor redact --check .env`,
  config: `Show the settings of this machine, or change one.

  spoor config                   show them
  spoor config redact on|off     whether secrets are masked before sessions are sent (on)
  spoor config pictures on|off [GLOB...]   whether pictures in messages are sent, too (on)

Pictures that you pasted or a tool returned are sent as they are, up to 5 MiB and 50 million pixels each: nothing in them is
masked. With a GLOB, as of projects, this is about some projects; of the rules that match a project the last one counts.

  spoor config pictures off '~/clients/*'`,
  recall: `Print where an error came up before in your sessions on the server, the three best places: when, in which session, what was
said at the end of it, and a link. Quotes around the text keep your shell from reading its signs.

  --project NAME     only this project

  spoor recall "TypeError: timer.unref is not a function"`,
  resume: `Go on with a session here, on any machine and in any folder, also after its agent has deleted it. Without an ID, lists the
sessions with an exact copy on the server (see originals) and lets you pick one with the arrow keys.

  ID or words        a session's id, or words of its title, project or conversation
  --clean            a new session without thoughts, for another account: from the exact copy, or from the archive
  --told AGENT       print what it was about, as a first prompt for claude, codex, gemini or opencode
  --run              start the agent
  --source NAME, --project NAME  only this agent, only this project
  --force            put a different file that is there already aside
  --any-version      also if the agent is older than the one that wrote the session
  --repair           remove the thoughts that the API refuses from a Claude Code session of this machine, after a copy

The exact copy is put back byte for byte, for the folder you are in. Nothing is written over.

  spoor resume retry timer --project api`,
  mcp: `Let an agent read your sessions on the server, over the Model Context Protocol on standard input and output. It is
for agents that can't speak it over HTTP, and is started by them: name \`spoor mcp\` as the command of a server. It
uses this machine's login, whose token needs the scope read.`,
  status: `Say whether sessions are sent in the background and what keeps them from it, and list this machine's last 20
uploads with their status.`,
  doctor: `Check the server, the login, the clock, the settings, the folders that are searched for sessions, and that settings
and state can be written.`,
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
    return `spoor ${name} [options]${words[name] ?? ""}\n\n${commandHelp[name]}\n\nOptions of every command:\n${commonOptions}\n\n${exitCodeHelp}`;
  return `spoor ${running.version}: sends your coding-agent sessions to a Spoor server.

Get started:
  spoor install      log this machine in, and keep sending its sessions in the background

More commands:
  spoor login        log this machine in, in your browser
  spoor push         send every session on this machine
  spoor scan         count the sessions on this machine, without sending them
  spoor projects     choose which projects are sent
  spoor watch        send new sessions as they are written
  spoor status       show the last uploads
  spoor whoami       show the logged-in account
  spoor doctor       find out why something does not work
  spoor recall       print where an error came up before
  spoor resume       go on with a session from any machine
  spoor mcp          let an agent read your sessions
  spoor originals    keep exact copies that only you can read
  spoor config       whether secrets are masked before sending, and pictures sent
  spoor redact       list the secrets in a file
  spoor service      status, start, stop and logs of the background service
  spoor update       take the version that your server delivers
  spoor logout       log this machine out
  spoor uninstall    undo install

Each command has its own --help.

Options of every command:
${commonOptions}

On a machine without a browser, set SPOOR_URL, and SPOOR_TOKEN to a token made on that server's page
/devices. It is sent to no other server.

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
