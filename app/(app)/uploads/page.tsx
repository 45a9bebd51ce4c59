import type { Metadata } from "next";
import { z } from "zod";
import { requireUser } from "#lib/auth/session";
import { workerSeen } from "#lib/heartbeat";
import { countJobs, listJobs } from "#lib/ingest/jobs";
import { Command } from "../../components/command";
import { formatCount } from "../../components/figures";
import { Notice } from "../../components/notice";
import { Refresh } from "../../components/refresh";
import { JobRow } from "./job-row";

export const metadata: Metadata = { title: "Uploads" };

const perPage = 50;

export default async function Page({ searchParams }: PageProps<"/uploads">) {
  const user = await requireUser("/uploads");
  const before = z.uuid().safeParse((await searchParams).before).data;
  const [jobs, counts] = await Promise.all([listJobs(user.id, { before, limit: perPage + 1 }), countJobs(user.id)]);
  const shown = jobs.slice(0, perPage);
  const last = shown.at(-1);
  const moving = counts.queued + counts.running > 0;
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-4 pb-4">
        <h1 className="font-semibold text-title">Uploads</h1>
        <Counts counts={counts} />
      </div>
      {counts.queued > 0 && <WorkerNotice />}
      {shown.length > 0 ? (
        <ul className="border-hairline border-t">
          {shown.map((job) => (
            <JobRow key={job.jobId} job={job} />
          ))}
        </ul>
      ) : (
        <Empty older={before !== undefined} />
      )}
      <nav aria-label="Pages of the list" className="flex gap-4 py-4">
        {before && (
          <a href="/uploads" className="link">
            Newest
          </a>
        )}
        {jobs.length > perPage && last && (
          <a href={`/uploads?before=${last.jobId}`} className="link" rel="next">
            Older
          </a>
        )}
      </nav>
      {moving && <Refresh everySeconds={2} />}
    </>
  );
}

function Counts({ counts: { queued, running, failed } }: { counts: Awaited<ReturnType<typeof countJobs>> }) {
  const parts = [
    queued > 0 && `${formatCount(queued)} waiting`,
    running > 0 && `${formatCount(running)} running`,
    failed > 0 && `${formatCount(failed)} failed`,
  ].filter(Boolean);
  return <p className="text-code text-muted">{parts.join(" · ")}</p>;
}

/** Shown while something waits and no worker was seen for a minute. */
async function WorkerNotice() {
  if (await workerSeen()) return null;
  return (
    <div className="pb-4">
      <Notice tone="warn">
        <p>Uploads are safe and wait: no worker was seen in the last minute. Start one on the server:</p>
        <Command text="npm run worker" />
      </Notice>
    </div>
  );
}

function Empty({ older }: { older: boolean }) {
  if (older) return <p className="py-8 text-muted">Nothing older.</p>;
  return (
    <p className="py-8 text-muted">
      Nothing was uploaded yet.{" "}
      <a href="/traces" className="link">
        Connect a machine
      </a>
    </p>
  );
}
