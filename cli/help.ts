import { program } from "./program.ts";
import { version } from "./version.ts";

/** What each command's `--help` says, below the line of its use. */
export const commandHelp = {
  login: `Logs this machine in. It opens your browser, where you approve the login, and keeps the token in
your settings, readable by you alone.

  --machine NAME   how the server lists this machine (its host name unless you say so)
  --no-browser     only print the address

  spoor login --server https://spoor.example.org`,
  logout: `Ends this machine's token at the server and forgets it here. What was sent stays there.`,
  whoami: `Says fetchAccount login this is, and until when.`,
  scan: `Looks at the sessions of every agent on this machine and counts them. It sends none of them.

  --source NAME       only this agent; may be given several times
  --show-telemetry    print what a scan tells the server, whole
  --no-telemetry      tell the server nothing (DO_NOT_TRACK=1 does the same)

Columns: Skipped are lines that are none of the conversation, Rejected are sessions that can't be sent,
Unhandled are types of lines that this client does not know, Invalid are lines that are broken.`,
  push: `Sends every session that is new or has changed since the last time, and waits until it is in the
archive. It can be stopped at any moment and run again: nothing is lost, and nothing is there twice.

  FILE…              send these files of JSON lines instead (an export of Spoor, for one)
  --since WHEN       only files written since: a date (2026-11-01) or a span (30m, 24h, 7d, 2w)
  --source NAME      only this agent's or source's sessions; may be given several times
  --project NAME     only this project's, by its name or its folder; may be given several times
  --dry-run          list what would be sent, and send nothing

  spoor push --since 7d --project ~/code/api`,
  watch: `Sends what is there, and then what your agents write, a second or two after they wrote it, until you
stop it. A server that is away is waited for. It takes --since, --source and --project like push.`,
  status: `Lists the last 20 uploads of this machine and what became of them.`,
  doctor: `Looks at what sending depends on: the server, the login, the clock, the settings, and the folders in
which sessions are looked for.`,
} as const;

export type CommandName = keyof typeof commandHelp;

const always = `  --server URL       the server (else SPOOR_URL, else the one that this file came from)
  --patience SECONDS how long to wait for a server that is away or busy (300)
  --json             the result as JSON, for programs
  --no-color         no colours (NO_COLOR does the same)
  --help, --version`;

const codes = `Exit codes: 0 done, 1 failed, 2 wrong use, 3 not logged in, 4 server not reachable, 5 some sessions
were not sent (each is named), 130 interrupted.`;

/** @param name the command that is asked about, or none for all of it */
export function helpOf(name?: CommandName): string {
  return textOf(name).replace(/\bspoor(?= [a-z]+\b(?!:))/g, program);
}

function textOf(name: CommandName | undefined): string {
  if (name)
    return `spoor ${name} [options]\n\n${commandHelp[name]}\n\nOptions of every command:\n${always}\n\n${codes}`;
  return `spoor ${version}: sends your conversations with coding agents to your Spoor.

Start with these two:
  spoor login        log this machine in, in your browser
  spoor push         send every session of this machine

And then:
  spoor scan         see what is on this machine; nothing is sent
  spoor watch        send new sessions as they are written
  spoor status       what became of the last uploads
  spoor whoami       fetchAccount login this is
  spoor doctor       when something does not work
  spoor logout       end the login

Each has a --help of its own. Options of every command:
${always}

On a machine without a browser: set SPOOR_TOKEN to a token made at the server, on its page
/devices, and SPOOR_URL.
${codes}`;
}
