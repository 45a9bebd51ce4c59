import { requireUser } from "#lib/auth/guards";
import { countInTrace } from "#lib/findings/findings";
import { formatQuantity } from "../../../../components/figures";
import { findingsHref } from "../../../findings/params";

export async function Secrets({ traceId }: { traceId: string }) {
  const user = await requireUser(`/traces/${traceId}`);
  const { masked, open } = await countInTrace(user.id, traceId);
  return (
    <>
      {masked > 0 && (
        <a href={findingsHref({ trace: traceId, state: "masked" })} className="quiet-link target">
          {formatQuantity(masked, "secret")} masked
        </a>
      )}
      {open > 0 && (
        <a href={findingsHref({ trace: traceId, state: "open" })} className="quiet-link target text-warn">
          {formatQuantity(open, "secret")} not masked
        </a>
      )}
    </>
  );
}
