import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { listShares, type Share } from "#lib/shares/shares";
import { Form } from "../../../components/forms/form";
import { Time } from "../../../components/values/time";
import { revokeShareAction } from "../../traces/[id]/share/actions";

export const metadata: Metadata = { title: "Shared sessions" };

export default async function Page() {
  const user = await requireUser("/settings/shares");
  const shares = await listShares(user.id);
  return (
    <div className="flex flex-col gap-3">
      <h1 className="font-semibold text-title">Shared sessions</h1>
      <p className="max-w-[72ch] text-muted">
        Anybody with one of these links can read its session, and nothing else. Create a link on the page of a session.
      </p>
      {shares.length > 0 ? (
        <ul aria-label="Shared sessions" className="border-hairline border-t">
          {shares.map((share) => (
            <ShareRow key={share.id} share={share} />
          ))}
        </ul>
      ) : (
        <p className="py-8 text-muted">No links yet. Only you can read your sessions.</p>
      )}
    </div>
  );
}

function ShareRow({ share: { id, traceId, title, createdAt, expiresAt, shown } }: { share: Share }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-hairline border-b py-2.5">
      <div className="min-w-0">
        <p id={`share-${id}`} className="font-medium [overflow-wrap:anywhere]">
          <a href={`/traces/${traceId}`} className="quiet-link target">
            {title || "Untitled session"}
          </a>
        </p>
        <p className="flex flex-wrap gap-x-4 text-code text-muted">
          <span>
            created <Time at={createdAt.toISOString()} as="moment" />
          </span>
          <span>{expiresAt ? <Ends at={expiresAt} /> : "until revoked"}</span>
          {(shown.from !== null || shown.to !== null) && <span>a part of it</span>}
          <span>{shown.masked ? "secrets hidden" : "as it is stored"}</span>
          {shown.pictures && <span>with pictures</span>}
        </p>
      </div>
      <Form
        action={revokeShareAction}
        hidden={{ id }}
        submit="Revoke"
        describedBy={`share-${id}`}
        question={
          <>
            Revoke this link to{" "}
            <strong className="font-semibold [overflow-wrap:anywhere]">{title || "Untitled session"}</strong>? It stops
            working at once.
          </>
        }
      />
    </li>
  );
}

function Ends({ at }: { at: Date }) {
  return (
    <>
      ends <Time at={at.toISOString()} as="moment" />
    </>
  );
}
