import type { Machine } from "#lib/telemetry/diagnostics";

/** What a client named, to be read: signs that can't be seen, or that turn the text round them, are told as such. */
export const readable = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");

/** A name that a client gave, or what stands for all that were too many to be counted apart. */
export function Name({ text }: { text: string }) {
  if (text === "") return <span className="text-muted">other</span>;
  return <bdi className="min-w-0 [overflow-wrap:anywhere]">{readable(text)}</bdi>;
}

/** A client's device: its machine's name where a token told it, else the id that it gave itself. */
export function DeviceName({ device, showUser }: { device: Machine; showUser: boolean }) {
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
