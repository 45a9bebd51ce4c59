import type { ListedGrant } from "#lib/auth/oauth/grants";
import { Form } from "../../components/forms/form";
import { Time } from "../../components/values/time";
import { disconnectAction } from "./actions";

export function AgentList({ grants }: { grants: ListedGrant[] }) {
  return (
    <ul aria-label="Agents" className="border-hairline border-t">
      {grants.map(({ id, client, project, createdAt, expiresAt, lastUsedAt }) => (
        <li key={id} className="grid gap-x-6 gap-y-1 border-hairline border-b py-2.5 sm:grid-cols-[1fr_auto]">
          <div className="min-w-0">
            <p id={`agent-${id}`} className="font-medium [overflow-wrap:anywhere]">
              {client}
            </p>
            <p className="flex flex-wrap gap-x-4 text-code text-muted">
              <span className="[overflow-wrap:anywhere]">
                may read {project === null ? "all sessions" : `sessions of ${project}`}
              </span>
              <span>
                connected <Time at={createdAt.toISOString()} />
              </span>
              {lastUsedAt ? (
                <span>
                  last asked <Time at={lastUsedAt.toISOString()} as="ago" />
                </span>
              ) : (
                <span>never asked</span>
              )}
              <span>
                ends <Time at={expiresAt.toISOString()} /> unless it asks
              </span>
            </p>
          </div>
          <Form
            action={disconnectAction}
            hidden={{ id }}
            submit="Disconnect"
            describedBy={`agent-${id}`}
            question={
              <>
                Disconnect <strong className="font-semibold [overflow-wrap:anywhere]">{client}</strong>? It can read
                nothing from then on, until you let it in again.
              </>
            }
          />
        </li>
      ))}
    </ul>
  );
}
