import { env } from "#lib/env";
import { Command } from "../../components/command";
import { fetchCommand, loginCommand, pushCommand } from "../../components/connect-commands";
import { Mark } from "../../components/mark";
import { Refresh } from "../../components/refresh";
import { Sign } from "../../components/sign";

/** Replaces an empty list: how to connect a machine. Refreshes until the first session has arrived. */
export function Connect() {
  const { BASE_URL } = env();
  return (
    <section className="mx-auto flex max-w-[72ch] flex-col gap-6 py-4">
      <Mark className="size-12" />
      <div className="flex flex-col gap-1">
        <h1 className="font-semibold text-title">Connect a machine</h1>
        <p className="text-muted">Three commands in its terminal bring its sessions here.</p>
      </div>
      <ol className="flex flex-col gap-5">
        <Step number={1} command={fetchCommand(BASE_URL)}>
          Download the client: one file, for Node 20 or later.
        </Step>
        <Step number={2} command={loginCommand}>
          Log the machine in. It opens this server in your browser, where you approve the login.
        </Step>
        <Step number={3} command={pushCommand}>
          Send the sessions of every agent on it.
        </Step>
      </ol>
      <p role="status" className="text-muted">
        <span className="text-accent">
          <Sign name="dot" />
        </span>{" "}
        Waiting for the first upload…{" "}
        <a href="/uploads" className="link">
          Uploads
        </a>{" "}
        <a href="/upload" className="link">
          Upload a file
        </a>
      </p>
      <Refresh everySeconds={3} />
    </section>
  );
}

function Step({ number, command, children }: { number: number; command: string; children: React.ReactNode }) {
  return (
    <li className="flex flex-col gap-2">
      <p>
        <span className="font-semibold">{number}.</span> {children}
      </p>
      <Command text={command} />
    </li>
  );
}
