import type { AdapterHealth } from "#lib/telemetry/diagnostics";
import { share } from "#lib/telemetry/health";
import { formatCount, formatQuantity } from "../../components/values/figures";
import { Time } from "../../components/values/time";
import { DeviceName, Name, readable } from "./names";
import { formatShare } from "./shares";

type Props = { health: AdapterHealth; showUsers: boolean };

export function AdapterDetails({ health: { adapter, versions, types, machines }, showUsers }: Props) {
  const [latest] = versions;
  return (
    <div className="flex flex-col gap-5 pt-1 pb-5 pl-6">
      <Versions label={`Versions of ${readable(adapter) || "other adapters"}`} versions={versions} />
      <div className="grid gap-x-8 gap-y-5 md:grid-cols-2">
        <Part title="Unknown types of entries">
          {types.length > 0 ? (
            types.map(({ type, count }) => (
              <Fact
                key={type}
                name={
                  <span className="font-mono text-code">
                    <Name text={type} />
                  </span>
                }
              >
                {formatQuantity(count, "scan")}
              </Fact>
            ))
          ) : (
            <li className="text-muted">None.</li>
          )}
        </Part>
        <Part title={`Machines with trouble${latest?.cliVersion ? " in the last version" : ""}`}>
          {machines.length > 0 ? (
            machines.map((machine) => (
              <Fact
                key={`${machine.userName} ${machine.deviceId}`}
                name={<DeviceName device={machine} showUser={showUsers} />}
              >
                <Time at={machine.seenAt.toISOString()} as="moment" />
              </Fact>
            ))
          ) : (
            <li className="text-muted">None.</li>
          )}
          {latest && latest.troubledMachines > machines.length && (
            <li className="text-muted">
              {latest.troubledMachines >= 1000 ? "1,000 or more" : formatCount(latest.troubledMachines)} in all.
            </li>
          )}
        </Part>
      </div>
    </div>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="pb-1 font-medium">{title}</p>
      <ul className="text-code">{children}</ul>
    </div>
  );
}

function Fact({ name, children }: { name: React.ReactNode; children: React.ReactNode }) {
  return (
    <li className="flex justify-between gap-4 py-0.5">
      {name}
      <span className="shrink-0 text-muted">{children}</span>
    </li>
  );
}

const heads = ["Version", "Scans", "Entries", "Skipped", "Invalid", "Refused", "Empty", "Machines"];

function Versions({ label, versions }: { label: string; versions: AdapterHealth["versions"] }) {
  return (
    // May be wider than a phone, so it scrolls separately from the page, also with the keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="relative overflow-x-auto">
      <table className="w-full text-right text-code">
        <thead className="text-muted">
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" className="py-0.5 pl-4 font-normal first:pl-0 first:text-left">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {versions.map((version) => (
            <tr key={version.cliVersion}>
              <th scope="row" className="max-w-40 py-0.5 text-left font-medium">
                <Name text={version.cliVersion} />
              </th>
              <Cell>{formatCount(version.scans)}</Cell>
              <Cell>{formatCount(version.entries)}</Cell>
              <Cell isMuted>{formatShare(share(version.skipped, version.entries))}</Cell>
              <Cell>{formatShare(share(version.invalid, version.entries))}</Cell>
              <Cell>{formatCount(version.rejected)}</Cell>
              <Cell>{formatCount(version.emptyParses)}</Cell>
              <Cell>{version.troubledMachines >= 1000 ? "1,000+" : formatCount(version.troubledMachines)}</Cell>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="pt-1 text-meta text-muted">
        Skipped: entries that belong to no message; nothing of them is lost. Invalid: entries that could not be read.
        Refused: sessions. Empty: scans that found nothing. Machines: those with trouble.
      </p>
    </section>
  );
}

const Cell = ({ children, isMuted = false }: { children: React.ReactNode; isMuted?: boolean }) => (
  <td className={`whitespace-nowrap py-0.5 pl-4 ${isMuted ? "text-muted" : ""}`}>{children}</td>
);
