import "../messages/styles";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import type { Sharing } from "#lib/masking/for-others";
import { checkForOthers } from "#lib/shares/check-for-others";
import { listShares } from "#lib/shares/shares";
import { readOutline } from "#lib/traces/outline";
import { hasPictures } from "#lib/traces/pictures";
import { getTraceRow } from "#lib/traces/queries";
import { getTitleForOthers } from "#lib/traces/title-for-others";
import type { Outline, Turn } from "#lib/transcript/outline";
import { getShownTitle } from "#lib/transcript/titles/choose-title";
import { Form } from "../../../../components/forms/form";
import { orMissing } from "../../../../components/missing";
import { formatQuantity } from "../../../../components/values/figures";
import { drawSegment, toStranger } from "../segments/render";
import { parseSegmentRequest } from "../segments/request";
import { shareAction } from "./actions";
import { CopyMarkdown } from "./copy-markdown";
import { FindingList } from "./findings";
import { loadPreviewBody } from "./load";
import { listRangeEnds, makeAddress, sharingIn } from "./range";
import { SharedMessages } from "./shared-messages";

export const metadata: Metadata = { title: "Share a session" };

export default async function Page({ params, searchParams }: PageProps<"/traces/[id]/share">) {
  const { id } = await params;
  const user = await requireUser(`/traces/${encodeURIComponent(id)}/share`);
  if (!z.uuid().safeParse(id).success) notFound();
  const query = await searchParams;
  const trace = await orMissing(getTraceRow(user.id, id));
  const outline = await readOutline(user.id, id);
  const sharing = sharingIn(outline, query);
  const [title, findings, shares, segment, isPictured] = await Promise.all([
    getTitleForOthers(user.id, trace, sharing),
    checkForOthers(user.id, id, sharing),
    listShares(user.id, id),
    drawSegment(toStranger(user.id, id, sharing), parseSegmentRequest(query), false),
    hasPictures(user.id, id),
  ]);
  const { from, to, masked, pictures = false } = sharing;
  const markdown = makeAddress(id, "/api/traces/ID/export.md", sharing);
  const page = makeAddress(id, "/traces/ID/share", sharing);
  const here = (name: string, value: number) => `${page}${page.includes("?") ? "&" : "?"}${name}=${value}`;
  return (
    <div className="flex flex-col gap-6">
      <header className="flex flex-col gap-1">
        <p className="text-code">
          <a href={`/traces/${id}${from === null ? "" : `?at=${from}`}`} className="link">
            Back to the session
          </a>
        </p>
        <h1 className="break-words font-semibold text-title">Share: {getShownTitle(trace) || "Untitled session"}</h1>
        <p className="max-w-[72ch] text-muted">
          Anybody with the link can read what is shown below, without an account. You can revoke it at any time.
        </p>
      </header>
      <Choices outline={outline} sharing={sharing} hasPictures={isPictured} />
      <FindingList findings={findings} masked={masked} traceId={id} />
      <div className="flex flex-wrap items-start gap-x-10 gap-y-4">
        <Form
          action={shareAction}
          tone="accent"
          hidden={{
            id,
            formId: crypto.randomUUID(),
            from: from === null ? "" : String(from),
            to: to === null ? "" : String(to),
            plain: masked ? "" : "1",
            pictures: pictures ? "1" : "",
          }}
          submit="Create link"
          inLine
        >
          <div className="flex items-center gap-2">
            <label htmlFor="days" className="font-medium">
              Valid for
            </label>
            <select id="days" name="days" defaultValue="7" className="input w-fit">
              <option value="1">1 day</option>
              <option value="7">7 days</option>
              <option value="30">30 days</option>
              <option value="90">90 days</option>
              <option value="never">until I revoke it</option>
            </select>
          </div>
        </Form>
        <div className="flex flex-wrap items-center gap-3">
          <CopyMarkdown href={`${markdown}${markdown.includes("?") ? "&" : "?"}for=github`} />
          <a href={`${markdown}${markdown.includes("?") ? "&" : "?"}for=github`} className="link target">
            Download for GitHub
          </a>
          {shares.length > 0 && (
            <a href="/settings/shares" className="link target">
              See or revoke {formatQuantity(shares.length, "link")}
            </a>
          )}
        </div>
      </div>
      <section aria-label="What others will see" className="rounded-block border border-edge border-dashed p-4">
        <h2 className="pb-3 text-muted">What others will see</h2>
        <p className="break-words pb-4 font-semibold text-section">{title}</p>
        {!segment && <p className="py-8 text-muted">No messages here.</p>}
        {segment?.earlier && (
          <a href={here("before", segment.first)} className="link target">
            Earlier
          </a>
        )}
        {segment && (
          <SharedMessages
            markup={{ __html: segment.html }}
            load={loadPreviewBody.bind(null, { traceId: id, from, to, masked, pictures })}
          />
        )}
        {segment?.later && (
          <a href={here("after", segment.last)} className="link target">
            Later
          </a>
        )}
      </section>
    </div>
  );
}

type ChoicesProps = { outline: Outline; sharing: Sharing; hasPictures: boolean };

/** A GET form, since the page previews the result. */
function Choices({ outline, sharing: { from, to, masked, pictures }, hasPictures }: ChoicesProps) {
  const { turns } = outline;
  const name = (turn: Turn, index: number) => `${index + 1}. ${turn.title.slice(0, 60) || "(no words)"}`;
  const ends = listRangeEnds(outline);
  return (
    <form method="get" className="flex flex-wrap items-end gap-4">
      <div className="flex min-w-0 flex-col gap-1">
        <label htmlFor="from" className="font-medium">
          From turn
        </label>
        <select id="from" name="from" defaultValue={from ?? ""} className="input max-w-72">
          <option value="">Start</option>
          {from !== null && !turns.some(({ position }) => position === from) && (
            <option value={from}>message {from}</option>
          )}
          {turns.map((turn, index) => (
            <option key={turn.position} value={turn.position}>
              {name(turn, index)}
            </option>
          ))}
        </select>
      </div>
      <div className="flex min-w-0 flex-col gap-1">
        <label htmlFor="to" className="font-medium">
          To the end of turn
        </label>
        <select id="to" name="to" defaultValue={to ?? ""} className="input max-w-72">
          <option value="">End (keeps updating)</option>
          {to !== null && !ends.some(({ value }) => value === to) && <option value={to}>message {to}</option>}
          {ends.map(({ value, turn }, index) => (
            <option key={turn.position} value={value}>
              {name(turn, index)}
            </option>
          ))}
        </select>
      </div>
      <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
        <input type="checkbox" name="plain" value="1" defaultChecked={!masked} className="size-4 accent-accent" />
        Don’t mask secrets, paths and names
      </label>
      {hasPictures && (
        <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
          <input type="checkbox" name="pictures" value="1" defaultChecked={pictures} className="size-4 accent-accent" />
          Include pictures (never masked)
        </label>
      )}
      <button type="submit" className="button">
        Show
      </button>
    </form>
  );
}
