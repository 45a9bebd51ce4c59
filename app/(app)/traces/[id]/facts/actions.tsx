import { requireUser } from "#lib/auth/guards";
import { listShares } from "#lib/shares/shares";
import type { Trace } from "#lib/traces/queries";
import { formatQuantity } from "../../../../components/values/figures";
import { Describe, Toggle } from "../../marks/marks";
import { CopyLink } from "./copy-link";

/** Works without script, except for copying. */
export function Actions({ trace }: { trace: Trace }) {
  const { id, starredAt, archivedAt } = trace;
  return (
    <div className="head-actions">
      <Toggle id={id} name="starred" isOn={starredAt !== null} className="icon-button">
        <span className="star-sign" data-on={starredAt ? "" : undefined} />
      </Toggle>
      <ShareLink traceId={id} />
      <CopyLink path={`/traces/${id}`} />
      <details data-menu className="relative">
        <summary aria-label="More about this session" title="More" className="icon-button list-none">
          <span className="i-lucide-ellipsis size-4" />
        </summary>
        <div className="head-menu">
          <Describe trace={trace} />
          <Toggle id={id} name="archived" isOn={archivedAt !== null} />
          <p className="head-menu-label">Export</p>
          <Exports id={id} />
          <form method="get" className="border-hairline border-t pt-1">
            <input type="hidden" name="delete" value="1" />
            <button type="submit" data-command="Delete" className="text-bad">
              Delete
            </button>
          </form>
        </div>
      </details>
    </div>
  );
}

async function ShareLink({ traceId }: { traceId: string }) {
  const user = await requireUser(`/traces/${traceId}`);
  const shares = await listShares(user.id, traceId);
  const words = shares.length > 0 ? `Shared by ${formatQuantity(shares.length, "link")}` : "Share";
  return (
    <a
      href={`/traces/${traceId}/share`}
      data-command="Share"
      aria-label={words}
      title={words}
      className={`icon-button ${shares.length > 0 ? "text-accent" : ""}`}
    >
      <span className="i-lucide-share-2 size-4" />
    </a>
  );
}

function Exports({ id }: { id: string }) {
  const ways = [
    ["Markdown", "export.md"],
    ["JSON", "export.json"],
    ["Markdown (secrets masked)", "export.md?masked=all"],
    ["JSON (secrets masked)", "export.json?masked=all"],
    ["Raw messages", "messages"],
  ];
  return ways.map(([name, file]) => (
    <a key={file} href={`/api/traces/${id}/${file}`}>
      {name}
    </a>
  ));
}
