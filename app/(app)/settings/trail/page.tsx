import type { Metadata } from "next";
import { z } from "zod";
import { listEvents } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { EventList } from "../../../components/event-list";

export const metadata: Metadata = { title: "Audit trail" };

const perPage = 50;
const page = "/settings/trail";

export default async function Page({ searchParams }: PageProps<"/settings/trail">) {
  const user = await requireUser(page);
  const before = z.uuid().safeParse((await searchParams).before).data;
  const events = await listEvents(user.id, { before, limit: perPage + 1 });
  const shown = events.slice(0, perPage);
  const last = shown.at(-1);
  return (
    <div className="flex flex-col gap-3">
      <h1 className="font-semibold text-title">Audit trail</h1>
      <p className="max-w-[72ch] text-muted">
        What was done in your account, and from where. Nobody can change it, including you; it is deleted only with the
        account.
      </p>
      {shown.length > 0 ? (
        <EventList events={shown} label="Audit trail" />
      ) : (
        <p className="py-8 text-muted">{before ? "No older entries." : "Nothing recorded yet."}</p>
      )}
      <nav aria-label="Pages of the list" className="flex gap-4 py-2">
        {before && (
          <a href={page} className="link">
            Newest
          </a>
        )}
        {events.length > perPage && last && (
          <a href={`${page}?before=${last.id}`} className="link" rel="next">
            Older
          </a>
        )}
      </nav>
    </div>
  );
}
