import { readSinkDisabledAt } from "#lib/telemetry/sink-state";
import { Notice } from "../../components/notice";
import { Time } from "../../components/time";

/** For the server's owner: that nothing is forwarded any more, and what to do. */
export async function SinkNotice() {
  const since = await readSinkDisabledAt();
  if (!since) return null;
  return (
    <Notice tone="bad">
      <p>
        Telemetry is not forwarded since <Time at={since.toISOString()} as="moment" />: the sink answered 410, that it
        is gone. Change <code className="font-mono text-code">TELEMETRY_SINK_URL</code> or its key, or start Spoor again
        to try the same one. What waits is sent then, if it is younger than three days.
      </p>
    </Notice>
  );
}
