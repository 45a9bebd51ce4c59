import "server-only";
import {
  type Family,
  type FamilySums,
  type Member,
  type Origin,
  type Relation,
  readFamilies,
  readTraceOrigins,
} from "#lib/traces/family";
import type { Trace } from "#lib/traces/queries";
import { Monogram } from "../../../../components/values/agent-icon";
import { formatMilliseconds } from "../../../../components/values/date-format";
import { formatCompact, formatQuantity } from "../../../../components/values/figures";
import { formatMoney } from "../../../../components/values/money";
import { listHref } from "../../hrefs";
import { formatFamilyCounts, toOriginLink } from "../../list/families";
import { countTokens, describeTier } from "../../list/spent";

export type FamilyNumbers = { own: FamilySums; origin: Origin | undefined; family: Family | undefined };

export function OriginLine({ origin }: { origin: Origin }) {
  const { words, title, href } = toOriginLink(origin);
  return (
    <p className="text-code">
      <span className="text-muted">{words}</span>{" "}
      <a href={href} className="link break-words">
        {title}
      </a>
      {origin.position !== null && <span className="text-muted"> at message {origin.position}</span>}
    </p>
  );
}

export function FamilyFacts({ traceId, own, family }: { traceId: string; own: FamilySums; family: Family }) {
  const { counts, below, members, isCut } = family;
  const children = counts.subagent + counts.fork + counts.continuation;
  const next = members.find(({ relation }) => relation === "continuation");
  return (
    <>
      {next && (
        <p className="text-code">
          <span className="text-muted">Continued in</span>{" "}
          <a href={`/traces/${next.id}`} className="link break-words">
            {next.title ?? "an untitled session"}
          </a>
        </p>
      )}
      <details className="family">
        <summary>
          {formatFamilyCounts(family)}
          {below > children && <span> · {formatQuantity(below - children, "more", "more")} below</span>}
          <span> · {isCut ? "including many of them" : "included"}: </span>
          <Figures sums={added(own, family.sums)} />
        </summary>
        <table>
          <caption className="sr-only">This session and what came from it</caption>
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">Messages</th>
              <th scope="col">Tokens</th>
              <th scope="col">Cost</th>
              <th scope="col" title="Without pauses of more than five minutes">
                Active
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">This session alone</th>
              <Cells sums={own} />
            </tr>
            {members.map((member) => (
              <MemberRow key={member.id} traceId={traceId} member={member} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">
                {isCut ? `The first ${formatCompact(below)} of all` : "All"} together
                {children > members.length && (
                  <>
                    {" "}
                    <a href={listHref({ parent: traceId })} className="link">
                      All {formatCompact(children)}
                    </a>
                  </>
                )}
              </th>
              <Cells sums={added(own, family.sums)} />
            </tr>
          </tfoot>
        </table>
      </details>
    </>
  );
}

const kinds: Record<Relation, string> = { subagent: "Sub-agent", fork: "Fork", continuation: "Continuation" };

function MemberRow({ traceId, member }: { traceId: string; member: Member }) {
  const { id, relation, position, source, title, own, below } = member;
  return (
    <tr>
      <th scope="row">
        <Monogram source={source} />{" "}
        <a href={`/traces/${id}`} className="link break-words">
          {title ?? "Untitled session"}
        </a>{" "}
        <span className="text-muted">
          {kinds[relation]}
          {position !== null && (
            <>
              {" at "}
              <a href={`/traces/${traceId}?at=${position}`} className="quiet-link">
                {position}
              </a>
            </>
          )}
          {below > 0 && ` · ${formatCompact(below)} below`}
        </span>
      </th>
      <Cells sums={own} />
    </tr>
  );
}

const added = (one: FamilySums, other: FamilySums): FamilySums => ({
  messages: one.messages + other.messages,
  tokens: one.tokens + other.tokens,
  costNano: one.costNano + other.costNano,
  unpricedTokens: one.unpricedTokens + other.unpricedTokens,
  tierNotPricedTokens: one.tierNotPricedTokens + other.tierNotPricedTokens,
  seconds: one.seconds + other.seconds,
});

const active = (seconds: number): string => (seconds > 0 ? formatMilliseconds(seconds * 1000) : "");

function formatFamilyCost({ costNano, unpricedTokens }: FamilySums): string {
  if (costNano === 0) return unpricedTokens > 0 ? "unpriced" : "";
  return `${formatMoney(costNano)}${unpricedTokens > 0 ? " + unpriced" : ""}`;
}

function Cells({ sums }: { sums: FamilySums }) {
  const { messages, tokens, seconds } = sums;
  return (
    <>
      <td title={formatQuantity(messages, "message")}>{formatCompact(messages)}</td>
      <td title={formatQuantity(tokens, "token")}>{tokens > 0 ? formatCompact(tokens) : ""}</td>
      <td title={describeTier(sums.tierNotPricedTokens)[0]}>
        {formatFamilyCost(sums)}
        {sums.tierNotPricedTokens > 0 && <p className="text-muted">tier not priced</p>}
      </td>
      <td>{active(seconds)}</td>
    </>
  );
}

function Figures({ sums }: { sums: FamilySums }) {
  const { messages, tokens, seconds } = sums;
  const facts = [
    formatQuantity(messages, "message"),
    tokens > 0 && `${formatCompact(tokens)} tokens`,
    formatFamilyCost(sums),
    sums.tierNotPricedTokens > 0 && "tier not priced",
    active(seconds),
  ];
  return <span className="text-muted">{facts.filter(Boolean).join(" · ")}</span>;
}

const shown = 100;

export async function readFamilyKin(userId: string, traceId: string): Promise<Omit<FamilyNumbers, "own">> {
  const [origins, families] = await Promise.all([
    readTraceOrigins(userId, [traceId]),
    readFamilies(userId, [traceId], shown),
  ]);
  return { origin: origins.get(traceId), family: families.get(traceId) };
}

export const sumOwn = (trace: Trace): FamilyNumbers["own"] => ({
  messages: trace.messageCount,
  tokens: countTokens(trace),
  costNano: trace.costNano,
  unpricedTokens: trace.usage.unpricedTokens,
  tierNotPricedTokens: trace.usage.tierNotPricedTokens,
  seconds: trace.activeSeconds,
});
