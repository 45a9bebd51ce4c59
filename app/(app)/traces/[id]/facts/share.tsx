import { requireUser } from "#lib/auth/guards";
import { listShares } from "#lib/traces/shares";
import { countOf } from "../../../../components/figures";
import { Form } from "../../../../components/form";
import { shareAction } from "./share-actions";

/** Creates a link to the session for others to read, and says how many there are. */
export async function ShareLink({ traceId }: { traceId: string }) {
  const user = await requireUser(`/traces/${traceId}`);
  const shares = await listShares(user.id, traceId);
  return (
    <details className="min-w-0" data-menu>
      <summary className="w-fit text-code text-muted hover:text-text">
        {shares.length > 0 ? `Shared by ${countOf(shares.length, "link")}` : "Share"}
      </summary>
      <div className="mt-2 flex max-w-[60ch] flex-col gap-3 rounded-block border border-hairline bg-block p-3">
        <p>
          Anybody with the link can read this session, including what is added later. Check it first: tool results may
          contain secrets.
        </p>
        <Form action={shareAction} hidden={{ id: traceId }} submit="Create link">
          <div className="flex flex-col gap-1">
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
        {shares.length > 0 && (
          <p>
            <a href="/settings/shares" className="link">
              See or revoke {shares.length === 1 ? "the link" : "the links"} there {shares.length === 1 ? "is" : "are"}
            </a>
          </p>
        )}
      </div>
    </details>
  );
}
