import type { Metadata } from "next";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { countJobs, type JobFilter, listJobs } from "#lib/ingest/jobs";
import { hasQuota } from "#lib/ingest/quota/quota";
import { Pager } from "../../components/pager";
import { StorageUse } from "../../components/storage";
import { replayAction } from "./actions";
import { Filters, jobFilters, uploadsHref } from "./filters";
import { JobRow } from "./job-row";
import { Moving } from "./moving";
import { ReplayButton, ReplayForm } from "./replay";

export const metadata: Metadata = { title: "Uploads" };

const perPage = 50;

export default async function Page({ searchParams }: PageProps<"/uploads">) {
  const query = await searchParams;
  const filter = z.enum(jobFilters).safeParse(query.status).data;
  const before = z.uuid().safeParse(query.before).data;
  const user = await requireUser(uploadsHref(filter, before));
  const [jobs, { queued, running, failed }] = await Promise.all([
    listJobs(user.id, { filter, before, limit: perPage + 1 }),
    countJobs(user.id),
  ]);
  const shown = jobs.slice(0, perPage);
  const last = shown.at(-1);
  const waiting = queued + running;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pb-4">
        <h1 className="font-semibold text-title">Uploads</h1>
        <Filters current={filter} counts={{ waiting, failed }} />
        <div className="ml-auto flex items-center gap-2">
          {failed > 1 && <ReplayButton jobId="all" />}
          <a href="/upload" className="button">
            Upload
          </a>
        </div>
      </div>
      {hasQuota() && (
        <div className="pb-4">
          <StorageUse userId={user.id} />
        </div>
      )}
      <ReplayForm action={replayAction} />
      {waiting > 0 && <Moving href={uploadsHref(filter, before)} />}
      {shown.length > 0 ? (
        <ul aria-label="Uploads" className="border-hairline border-t">
          {shown.map((job) => (
            <JobRow key={job.jobId} job={job} />
          ))}
        </ul>
      ) : (
        <Empty filter={filter} older={before !== undefined} />
      )}
      <Pager
        first={before && ["Newest", uploadsHref(filter)]}
        next={jobs.length > perPage && last && ["Older", uploadsHref(filter, last.jobId)]}
      />
    </>
  );
}

function Empty({ filter, older }: { filter: JobFilter | undefined; older: boolean }) {
  if (older) return <p className="py-8 text-muted">No older uploads.</p>;
  if (filter)
    return (
      <p className="py-8 text-muted">{filter === "waiting" ? "No uploads are queued." : "No uploads have failed."}</p>
    );
  return (
    <p className="py-8 text-muted">
      No uploads yet.{" "}
      <a href="/devices" className="link">
        Connect a machine
      </a>{" "}
      or{" "}
      <a href="/upload" className="link">
        send a file by hand
      </a>
    </p>
  );
}
