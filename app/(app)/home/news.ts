import type { SignedInUser } from "#lib/auth/guards";
import { readVisit } from "#lib/auth/sign-in/sign-ins";
import { listTokens, silentMachines } from "#lib/auth/tokens";
import { countUnmasked } from "#lib/findings/findings";
import { countJobs } from "#lib/ingest/jobs";
import { getStorage, hasQuota } from "#lib/ingest/quota/quota";
import { readLabels } from "#lib/projects/queries";
import { listWorse } from "#lib/telemetry/diagnostics";
import { withPullRequests } from "#lib/traces/evidence";
import { countTraces } from "#lib/traces/facets";
import { listPage } from "#lib/traces/queries";
import { isLive } from "#lib/traces/standing";
import { listBudgets } from "#lib/usage/budgets";
import { readDigests } from "#lib/usage/digest";
import { readMonth } from "#lib/usage/month";
import { countDueTraces } from "#lib/usage/queries";
import { readStandings } from "../../../lib/traces/standing";

const shown = 12;
export const maxCounted = 1000;

/** Reads only roll-ups and indexes: a bounded number of rows, however much is stored. */
export async function readNews(user: SignedInUser, zone: string, now: Date) {
  const { since } = await readVisit(user.id, now);
  const [digests, sessions, count, failing, concerns, due] = await Promise.all([
    readDigests(user.id, { zone, now, since }),
    readSessions(user.id),
    since ? countTraces(user.id, { ...told, from: since.toISOString() }, maxCounted) : 0,
    since ? countTraces(user.id, { ...listed, errors: true, from: since.toISOString() }, maxCounted) : 0,
    readConcerns(user, zone, now),
    countDueTraces(user.id),
  ]);
  type Dated = { latestAt: string; dated: boolean };
  const goesOn = ({ latestAt, dated }: Dated) => dated && isLive(latestAt, now.getTime());
  const isNew = ({ latestAt, dated }: Dated) => dated && since !== undefined && Date.parse(latestAt) >= since.getTime();
  const live = sessions.filter(goesOn);
  const named = [...sessions.map(({ projectId }) => projectId), ...digests.projects.map(({ id = null }) => id)];
  const [labels, standings] = await Promise.all([readLabels(user.id, named), readStandings(user.id, live)]);
  return {
    ...{ since, digests, count, failing, concerns, due, live, labels, standings },
    fresh: sessions.filter((one) => !goesOn(one) && isNew(one)),
    /** New sessions that are counted but not listed. */
    more: Math.max(0, count - sessions.filter(isNew).length),
    earlier: sessions.filter((one) => !goesOn(one) && !isNew(one)),
  };
}

export type News = Awaited<ReturnType<typeof readNews>>;
export type NewsSession = News["live"][number];

const listed = { archived: false, trivial: false };
const told = { ...listed, families: true };
const readSessions = async (userId: string) =>
  (await withPullRequests(userId, await listPage(userId, told, { limit: shown }))).traces;

const budgetShare = 0.8;
const storageShare = 0.9;

async function readConcerns(user: SignedInUser, zone: string, now: Date) {
  const [jobs, tokens, worse, budgets, storage, unmasked] = await Promise.all([
    countJobs(user.id),
    listTokens(user.id),
    listWorse({ userId: user.id, seesAll: user.role === "owner" }),
    listBudgets(user.id),
    hasQuota() ? getStorage(user.id) : undefined,
    countUnmasked(user.id),
  ]);
  const month = budgets.length > 0 ? await readMonth(user.id, zone, now) : undefined;
  const { used, quota } = storage ?? { used: 0, quota: undefined };
  return {
    failedUploads: jobs.failed,
    unmasked,
    worse,
    silent: silentMachines(tokens, now),
    budgets: (month?.budgets ?? []).filter(({ spentNano, amountNano }) => spentNano >= budgetShare * amountNano),
    storage: quota !== undefined && used >= storageShare * quota ? { used, quota } : undefined,
  };
}

export type Concerns = News["concerns"];
