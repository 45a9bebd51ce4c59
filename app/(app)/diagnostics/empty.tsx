import { env } from "#lib/core/env";
import { Command } from "../../components/command";
import { fetchCommand, loginCommand, telemetryCommand } from "../../components/command-text";
import { Mark } from "../../components/mark";
import { Refresh } from "../../components/shell/refresh";

const scanCommands = (baseUrl: string) => [fetchCommand(baseUrl), loginCommand, "node spoor.mjs scan"].join(" &&\n");

export function Empty() {
  const { BASE_URL } = env();
  return (
    <section className="mx-auto flex max-w-[72ch] flex-col gap-6 py-4">
      <Mark className="size-12" />
      <div className="flex flex-col gap-1">
        <h1 className="font-semibold text-title">Diagnostics</h1>
        <p className="text-muted">
          No client has reported a scan yet. After each scan a client can report how its parsers did, so that you see
          here when an agent's new format is no longer understood.
        </p>
      </div>
      <div className="flex flex-col gap-2">
        <p>On a machine with sessions, count what is there. No session is sent:</p>
        <Command text={scanCommands(BASE_URL)} />
      </div>
      <div className="flex flex-col gap-2">
        <p>
          Any other client reports with a request and the token of{" "}
          <a href="/devices" className="link">
            a connected machine
          </a>
          :
        </p>
        <Command text={telemetryCommand(BASE_URL)} />
      </div>
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[auto_minmax(0,1fr)]">
        <dt className="font-medium">Sent</dt>
        <dd className="text-muted">
          An id of the device, the client's version and platform, and for each adapter counts, and the names of entry
          types that it could not handle.
        </dd>
        <dt className="font-medium">Never leaves the machine</dt>
        <dd className="text-muted">
          Content: prompts, answers, commands and their output, and files. Spoor never asks for them in diagnostics.
        </dd>
      </dl>
      <Refresh everySeconds={5} />
    </section>
  );
}
