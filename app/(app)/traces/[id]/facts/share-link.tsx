import { requireUser } from "#lib/auth/guards";
import { listShares } from "#lib/traces/shares";
import { formatQuantity } from "../../../../components/figures";

export async function ShareLink({ traceId }: { traceId: string }) {
  const user = await requireUser(`/traces/${traceId}`);
  const shares = await listShares(user.id, traceId);
  return (
    <a href={`/traces/${traceId}/share`} data-command="Share" className="text-muted hover:text-text">
      {shares.length > 0 ? `Shared by ${formatQuantity(shares.length, "link")}` : "Share"}
    </a>
  );
}
