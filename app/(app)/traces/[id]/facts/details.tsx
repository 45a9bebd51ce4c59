import type { Trace } from "#lib/traces/queries";
import type { Circumstances, ModelUse } from "#lib/traces/usage";
import { readableJson } from "#lib/transcript/text";
import { Command } from "../../../../components/command";
import { formatMilliseconds } from "../../../../components/values/date-format";
import { formatCompact } from "../../../../components/values/figures";
import { formatMoney } from "../../../../components/values/money";
import { ActivityTime, Time } from "../../../../components/values/time";
import { countTokens, describeTokens } from "../../list/spent";
import { ContextChart } from "./context-chart";
import type { ResumeWay } from "./resume";

type Props = { trace: Trace; circumstances: Circumstances; resume: ResumeWay[] };

export function Details({ trace, circumstances, resume }: Props) {
  const { metadata, createdAt, activeSeconds } = trace;
  const { machine, context } = circumstances;
  const told = (name: string) => (typeof metadata?.[name] === "string" ? String(metadata[name]).slice(0, 512) : "");
  return (
    <details className="min-w-0 [&[open]]:order-last [&[open]]:basis-full">
      <summary>Details</summary>
      <div className="my-2 flex flex-col gap-4 rounded-block border border-hairline bg-block p-3">
        <dl className="session-details">
          <Fact name="Started">{createdAt && <Time at={createdAt} as="long" />}</Fact>
          <Fact name="Last activity">
            <ActivityTime of={trace} as="long" />
          </Fact>
          <Fact name="Elapsed">{spanWords(trace)}</Fact>
          <Fact name="Active, without pauses">{activeSeconds > 0 && formatMilliseconds(activeSeconds * 1000)}</Fact>
          <Fact name="Machine">{machine}</Fact>
          <Fact name="Folder">{told("cwd") && <code className="font-mono">{told("cwd")}</code>}</Fact>
          <Fact name="Agent's version">{told("agentVersion")}</Fact>
          <Fact name="Effort">{told("effort")}</Fact>
          <Fact name="Permissions">{told("permissionMode")}</Fact>
          <Fact name="Turns, measured by the agent">
            {typeof metadata?.workedMs === "number" && metadata.workedMs > 0 && formatMilliseconds(metadata.workedMs)}
          </Fact>
          <Fact name="Session id">
            <code className="font-mono">{trace.sourceId}</code>
          </Fact>
          <Fact name="Tokens">{countTokens(trace) > 0 && describeTokens(trace)}</Fact>
        </dl>
        {context.length > 1 && (
          <div>
            <p className="text-muted">Context over time</p>
            <ContextChart context={context} isLarge />
          </div>
        )}
        <Models models={circumstances.models} />
        {resume.map(({ name, command }) => (
          <div key={name} className="flex flex-col gap-1">
            <p className="text-muted">Go on with it: {name.toLowerCase()}</p>
            <Command text={command} />
          </div>
        ))}
        {metadata && <Metadata value={metadata} />}
      </div>
    </details>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  if (!children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Models({ models }: { models: ModelUse[] }) {
  if (models.length === 0) return null;
  const columns: [name: string, of: (use: ModelUse) => number][] = [
    ["Input", (use) => use.inputTokens],
    ["Output", (use) => use.outputTokens],
    ["From cache", (use) => use.cacheReadTokens],
    ["To cache", (use) => use.cacheWriteTokens],
  ];
  return (
    <div className="overflow-x-auto">
      <table className="session-models">
        <caption className="sr-only">Tokens and cost of each model</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            {columns.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {models.map((use) => (
            <tr key={use.model ?? ""}>
              <th scope="row">{use.model ?? "unknown"}</th>
              {columns.map(([name, of]) => (
                <td key={name}>{formatCompact(of(use))}</td>
              ))}
              <td>{use.costNano === null ? "no price" : formatMoney(use.costNano)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Metadata({ value }: { value: Record<string, unknown> }) {
  return (
    <details className="min-w-0">
      <summary className="text-code text-muted hover:text-text">Metadata</summary>
      <pre className="mt-1 whitespace-pre-wrap break-words rounded-block border border-hairline bg-block px-3 py-2 font-mono text-code">
        {readableJson(value)}
      </pre>
    </details>
  );
}

/** "" if only one moment is known. */
function spanWords({ createdAt, updatedAt, dated }: Pick<Trace, "createdAt" | "updatedAt" | "dated">): string {
  const milliseconds = createdAt && dated ? Date.parse(updatedAt) - Date.parse(createdAt) : 0;
  return milliseconds > 0 ? formatMilliseconds(milliseconds) : "";
}
