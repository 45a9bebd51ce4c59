import type { Metadata } from "next";
import { z } from "zod";
import { listEvents } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { Pager } from "../../../components/pager";
import { EventList } from "../../../components/values/event-list";

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
        What happened in your account, and from where. Nobody can change it; it is deleted only with the account.
      </p>
      {shown.length > 0 ? (
        <EventList events={shown} label="Audit trail" />
      ) : (
        <p className="py-8 text-muted">{before ? "No older entries." : "Nothing recorded yet."}</p>
      )}
      <Pager
        first={before && ["Newest", page]}
        next={events.length > perPage && last && ["Older", `${page}?before=${last.id}`]}
      />
    </div>
  );
}
