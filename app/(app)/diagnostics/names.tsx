import type { DiagnosedMachine } from "#lib/telemetry/diagnostics";

/** A name from a client, safe to show: invisible and bidirectional control characters become U+FFFD. */
export const readable = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");

/** A name from a client; "other" stands for all beyond the maximum that is counted separately. */
export function Name({ text }: { text: string }) {
  if (text === "") return <span className="text-muted">other</span>;
  return <bdi className="min-w-0 [overflow-wrap:anywhere]">{readable(text)}</bdi>;
}

/** A client's device: its machine's name where a token identifies it, else the id that it reported. */
export function DeviceName({ device, showUser }: { device: DiagnosedMachine; showUser: boolean }) {
  return (
    <span className="min-w-0">
      {device.machine ? (
        <Name text={device.machine} />
      ) : (
        <span className="font-mono text-code">
          <Name text={device.deviceId} />
        </span>
      )}
      {showUser && (
        <span className="text-muted">
          {" "}
          · {device.userName ? <span className="[overflow-wrap:anywhere]">{device.userName}</span> : "anonymous"}
        </span>
      )}
    </span>
  );
}
