import type { DiagnosedMachine } from "#lib/telemetry/diagnostics";

/** Replaces invisible and bidirectional control characters by U+FFFD. */
export const readable = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");

/** "other" is all names beyond those counted separately. */
export function Name({ text }: { text: string }) {
  if (text === "") return <span className="text-muted">other</span>;
  return <bdi className="min-w-0 [overflow-wrap:anywhere]">{readable(text)}</bdi>;
}

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
