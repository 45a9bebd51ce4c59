import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache } from "react";
import { requireUser } from "#lib/auth/guards";
import { getModelFamily } from "#lib/prices/model";
import { type PullRequestReport, readPullRequest } from "#lib/pull-requests/pull-requests";
import { pullRequestQuery } from "#lib/pull-requests/schema";
import { orMissing } from "../../../components/missing";
import { Section } from "../../../components/section";
import { Monogram } from "../../../components/values/agent-icon";
import { formatCompact, formatCount, formatQuantity } from "../../../components/values/figures";
import { formatMoney } from "../../../components/values/money";
import { ActivityTime, Time } from "../../../components/values/time";
import { listHref, pullHref } from "../../traces/hrefs";
import { describeTier } from "../../traces/list/spent";

type Props = PageProps<"/pull/[...path]">;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { repository, number } = parsePullPath((await params).path);
  return { title: `${repository} #${number}` };
}

export default async function Page({ params }: Props) {
  const { repository, number } = parsePullPath((await params).path);
  const report = await ownReport(repository, number);
  return (
    <div className="flex flex-col gap-8">
      <div className="flex flex-col gap-3">
        <h1 className="break-words font-semibold text-title">
          {repository} <span className="text-muted">#{number}</span>
        </h1>
        <p className="flex flex-wrap gap-x-4 gap-y-1 text-code">
          {report.urls.map((url) => (
            <a key={url} href={url} rel="noreferrer" className="link target break-all">
              {report.urls.length > 1 ? url : `On ${new URL(url).host}`}
            </a>
          ))}
        </p>
        <Sums report={report} />
      </div>
      <Section id="sessions" title="Sessions">
        <ul className="border-hairline border-t">
          {report.sessions.map((session) => (
            <Session key={session.id} session={session} />
          ))}
        </ul>
        {report.sessionCount > report.sessions.length && (
          <p>
            <a href={listHref({ pr: `${repository}#${number}` })} className="link">
              All {formatCount(report.sessionCount)} sessions
            </a>
          </p>
        )}
      </Section>
      {report.commits.length > 0 && <Commits report={report} />}
    </div>
  );
}

/** GitLab's groups may be nested. */
function parsePullPath(path: string[]): { repository: string; number: number } {
  const parts = path.map(decoded);
  const parsed = pullRequestQuery.safeParse({ repository: parts.slice(0, -1).join("/"), number: parts.at(-1) });
  if (!parsed.success || parts.length < 3) notFound();
  return parsed.data;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) notFound();
    throw error;
  }
}

const ownReport = cache(async (repository: string, number: number): Promise<PullRequestReport> => {
  const user = await requireUser(pullHref(repository, number));
  return orMissing(readPullRequest(user.id, { repository, number }));
});

function Sums({ report }: { report: PullRequestReport }) {
  const { usage, costNano, sessionCount, subagentCount, sessions, createdAt, updatedAt } = report;
  const shared = sessions.filter(({ linkedTo }) => linkedTo > 1).length;
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens;
  return (
    <>
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        <div>
          <dt className="text-code text-muted">Cost</dt>
          <dd className="font-semibold text-section sm:text-figure">
            {costNano > 0 || usage.unpricedTokens === 0 ? formatMoney(costNano) : "unpriced"}
            {usage.unpricedTokens > 0 && costNano > 0 && <span className="text-muted text-ui"> + unpriced</span>}
          </dd>
        </div>
        <div>
          <dt className="text-code text-muted">Tokens</dt>
          <dd className="font-semibold text-section sm:text-figure">
            <span title={formatCount(usage.inputTokens + cached + usage.outputTokens)}>
              {formatCompact(usage.inputTokens + cached + usage.outputTokens)}
            </span>
          </dd>
        </div>
        <div>
          <dt className="text-code text-muted">Sessions</dt>
          <dd className="font-semibold text-section sm:text-figure">
            {formatCount(sessionCount)}
            {subagentCount > 0 && (
              <span className="text-muted text-ui"> + {formatQuantity(subagentCount, "sub-agent")}</span>
            )}
          </dd>
        </div>
        <div>
          <dt className="text-code text-muted">Files changed</dt>
          <dd className="font-semibold text-section sm:text-figure">
            {formatCount(report.filesChanged)}
            {report.linesAdded + report.linesRemoved > 0 && (
              <span className="text-muted text-ui" title="Lines changed by all edits">
                {" "}
                +{formatCount(report.linesAdded)} −{formatCount(report.linesRemoved)}
              </span>
            )}
          </dd>
        </div>
      </dl>
      <p className="text-code text-muted">
        {createdAt && updatedAt && (
          <>
            {createdAt < updatedAt && (
              <>
                <Time at={createdAt} as="moment" /> –{" "}
              </>
            )}
            <Time at={updatedAt} as="moment" />
            {" · "}
          </>
        )}
        {[...report.sources, ...new Set(report.models.map(getModelFamily))].join(", ")}
      </p>
      <p className="max-w-[72ch] text-code text-muted">
        {formatCount(usage.inputTokens)} input, {formatCount(usage.cacheReadTokens)} read from and{" "}
        {formatCount(usage.cacheWriteTokens)} written to the cache, {formatCount(usage.outputTokens)} output tokens
        {usage.unpricedTokens > 0 && `; ${formatCount(usage.unpricedTokens)} from models without a price`}
        {describeTier(usage.tierNotPricedTokens).map((remark) => `; ${remark}`)}. Sub-agents are included.{" "}
        {shared > 0 &&
          `${formatQuantity(shared, "session is", "sessions are")} linked to several pull requests and count${
            shared === 1 ? "s" : ""
          } fully at each.`}
      </p>
    </>
  );
}

async function Session({ session }: { session: PullRequestReport["sessions"][number] }) {
  const { id, title, source, model, messageCount, costNano, unpricedTokens, subagents, position } = session;
  const at = position === null ? "" : `?at=${position}`;
  return (
    <li className="flex items-baseline gap-3 border-hairline border-b py-2">
      <Monogram source={source} />
      <div className="flex min-w-0 grow flex-col gap-1">
        <a href={`/traces/${id}${at}`} className="quiet-link target break-words font-medium">
          {title ?? <span className="text-muted">Untitled session</span>}
        </a>
        <p className="flex flex-wrap gap-x-3 text-code text-muted">
          {model && (
            <span title={model} className="break-all">
              {getModelFamily(model)}
            </span>
          )}
          <span>{formatQuantity(messageCount, "message")}</span>
          {subagents > 0 && <span>with {formatQuantity(subagents, "sub-agent")}</span>}
          <ActivityTime of={session} as="moment" />
        </p>
      </div>
      <span className="whitespace-nowrap text-code">
        {costNano > 0 ? formatMoney(costNano) : unpricedTokens > 0 && <span className="text-muted">unpriced</span>}
      </span>
    </li>
  );
}

function Commits({ report: { commits } }: { report: PullRequestReport }) {
  return (
    <Section id="commits" title="Commits of these sessions">
      <ul className="flex flex-col gap-2 text-code">
        {commits.map(({ hash, subject, traceId, position, url }) => (
          <li key={hash} className="break-words">
            {url ? (
              <a href={url} rel="noreferrer" className="link font-mono" title={hash}>
                {hash.slice(0, 7)}
              </a>
            ) : (
              <code title={hash}>{hash.slice(0, 7)}</code>
            )}{" "}
            {subject}{" "}
            <a
              href={`/traces/${traceId}${position === null ? "" : `?at=${position}`}`}
              className="quiet-link text-muted"
            >
              {position === null ? "session" : `message ${position}`}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
