import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { hasTelemetry, listAdapters, listDevices, trendDays } from "#lib/telemetry/diagnostics";
import { readSinkDisabledAt } from "#lib/telemetry/sink";
import { Notice } from "../../components/notice";
import { Section } from "../../components/section";
import { Time } from "../../components/values/time";
import { AdapterList } from "./adapter-list";
import { DeviceList } from "./device-list";
import { Empty } from "./empty";

export const metadata: Metadata = { title: "Diagnostics" };

export default async function Page() {
  const user = await requireUser("/diagnostics");
  const reader = { userId: user.id, seesAll: user.role === "owner" };
  if (!(await hasTelemetry(reader))) return <Empty />;
  const [adapters, devices] = await Promise.all([listAdapters(reader), listDevices(reader)]);
  return (
    <div className="flex flex-col gap-8">
      <div className="flex flex-col gap-4">
        <div>
          <h1 className="font-semibold text-title">Diagnostics</h1>
          <p className="text-muted">
            {reader.seesAll ? "All clients' scans, including anonymous ones" : "Your clients' scans"}, over the last{" "}
            {trendDays} days.
          </p>
        </div>
        {reader.seesAll && <SinkNotice />}
        {adapters.length > 0 ? (
          <AdapterList adapters={adapters} showUsers={reader.seesAll} />
        ) : (
          <p className="py-4 text-muted">No adapter ran in this period.</p>
        )}
      </div>
      <Section id="clients" title="Clients">
        <DeviceList {...devices} showUsers={reader.seesAll} />
      </Section>
    </div>
  );
}

async function SinkNotice() {
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
