import { readSinkDisabledAt } from "#lib/telemetry/sink-state";
import { Notice } from "../../components/notice";
import { Time } from "../../components/time";

export async function SinkNotice() {
  const since = await readSinkDisabledAt();
  if (!since) return null;
  return (
    <Notice tone="bad">
      <p>
        Telemetry has not been forwarded since <Time at={since.toISOString()} as="moment" />: the sink answered 410
        (gone). Change <code className="font-mono text-code">TELEMETRY_SINK_URL</code> or its key, or restart Spoor to
        try the same sink again. Waiting reports younger than three days are sent then.
      </p>
    </Notice>
  );
}
