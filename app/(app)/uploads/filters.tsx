import type { JobFilter } from "#lib/ingest/jobs";
import { formatCount } from "../../components/values/figures";

export const jobFilters = ["waiting", "failed"] as const satisfies JobFilter[];

/** Without `before` it starts at the newest upload. */
export function uploadsHref(filter: JobFilter | undefined, before?: string): string {
  const query = new URLSearchParams({ ...(filter && { status: filter }), ...(before && { before }) }).toString();
  return query ? `/uploads?${query}` : "/uploads";
}

const words = { waiting: "Waiting", failed: "Failed" } as const;

export function Filters({ current, counts }: { current: JobFilter | undefined; counts: Record<JobFilter, number> }) {
  return (
    <nav aria-label="Show" className="flex flex-wrap gap-x-1 max-sm:order-last max-sm:-ml-2 max-sm:w-full">
      <Tab href={uploadsHref(undefined)} isCurrent={current === undefined}>
        All
      </Tab>
      {jobFilters.map((filter) => (
        <Tab key={filter} href={uploadsHref(filter)} isCurrent={current === filter}>
          {words[filter]}
          {counts[filter] > 0 && `·${formatCount(counts[filter])}`}
        </Tab>
      ))}
    </nav>
  );
}

function Tab({ href, isCurrent, children }: { href: string; isCurrent: boolean; children: React.ReactNode }) {
  return (
    <a
      href={href}
      aria-current={isCurrent ? "page" : undefined}
      className="flex h-8 items-center rounded-control px-2 text-muted hover:text-text aria-[current]:bg-tint aria-[current]:text-text pointer-coarse:h-11"
    >
      {children}
    </a>
  );
}
