import { env } from "#lib/core/env";
import { Command } from "../../components/command";
import { fetchCommand, installCommand } from "../../components/command-text";
import { Mark } from "../../components/mark";
import { Refresh } from "../../components/shell/refresh";
import { Sign } from "../../components/sign";

export function Connect() {
  const { BASE_URL } = env();
  return (
    <section className="mx-auto flex max-w-[72ch] flex-col gap-6 py-4">
      <Mark className="size-12" />
      <div className="flex flex-col gap-1">
        <h1 className="font-semibold text-title">Connect a machine</h1>
        <p className="text-muted">Paste this line into a terminal on it. It needs Node 20 or later.</p>
      </div>
      <Command text={`${fetchCommand(BASE_URL)} && ${installCommand}`} />
      <ol className="flex list-decimal flex-col gap-1 pl-5 text-muted">
        <li>The client is downloaded: one file. It shows every file before it writes it.</li>
        <li>It opens this server in your browser, where you approve the login.</li>
        <li>The sessions of every agent on the machine are sent, and from then on in the background.</li>
      </ol>
      <p role="status" className="text-muted">
        <span className="text-accent">
          <Sign name="dot" />
        </span>{" "}
        Waiting for the first upload… See what{" "}
        <a href="/uploads" className="link">
          came in
        </a>
        , or{" "}
        <a href="/upload" className="link">
          send a file by hand
        </a>
        .
      </p>
      <Refresh everySeconds={3} />
    </section>
  );
}
