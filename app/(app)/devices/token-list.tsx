import { isSilentSince, type ListedToken, maxListedTokens } from "#lib/auth/tokens";
import type { ApprovedLogin } from "#lib/device/login";
import { Form } from "../../components/forms/form";
import { scopeWords } from "../../components/forms/scopes";
import { Sign } from "../../components/sign";
import { formatQuantity } from "../../components/values/figures";
import { Time } from "../../components/values/time";
import { revokeAction, revokeAllAction, withdrawAction } from "./actions";

export function TokenList({ tokens, logins }: { tokens: ListedToken[]; logins: ApprovedLogin[] }) {
  const count = tokens.length + logins.length;
  return (
    <>
      <ul aria-label="Machines" className="border-hairline border-t">
        {logins.map((login) => (
          <LoginRow key={login.id} login={login} />
        ))}
        {tokens.map((token) => (
          <TokenRow key={token.id} token={token} />
        ))}
      </ul>
      {tokens.length === maxListedTokens && (
        <p className="text-muted">Only the {maxListedTokens} newest are listed: revoke some to see the others.</p>
      )}
      {count > 1 && (
        <details>
          <summary className="w-fit text-muted hover:text-text">Revoke every token</summary>
          <div className="mt-2 max-w-[60ch] rounded-block border border-bad p-3">
            <Form action={revokeAllAction} submit="Revoke all" tone="bad">
              <p>
                {tokens.length === maxListedTokens ? "All machines" : `All ${formatQuantity(count, "machine")}`} lose
                access at once. What they uploaded stays. You can connect each of them again.
              </p>
            </Form>
          </div>
        </details>
      )}
    </>
  );
}

function Heard({ token: { lastUsedAt, lastUsedIp } }: { token: Pick<ListedToken, "lastUsedAt" | "lastUsedIp"> }) {
  if (!lastUsedAt) return <span>never heard</span>;
  const isSilent = isSilentSince(lastUsedAt, new Date());
  return (
    <span className={isSilent ? "font-medium text-warn" : undefined}>
      {isSilent && (
        <>
          <Sign name="ring" /> silent:{" "}
        </>
      )}
      last heard <Time at={lastUsedAt.toISOString()} as="ago" />
      {lastUsedIp && (
        <>
          {" "}
          from <span className="font-mono">{lastUsedIp}</span>
        </>
      )}
    </span>
  );
}

/** Approved, but the machine has not fetched its token yet. */
function LoginRow({ login: { id, machine, scopes, createdAt } }: { login: ApprovedLogin }) {
  return (
    <li className="grid gap-x-6 gap-y-1 border-hairline border-b py-2.5 sm:grid-cols-[1fr_auto]">
      <div className="min-w-0">
        <p id={`login-${id}`} className="font-medium [overflow-wrap:anywhere]">
          {machine}
        </p>
        <p className="flex flex-wrap gap-x-4 text-code text-muted">
          <span>may {scopeWords(scopes)}</span>
          <span>
            asked <Time at={createdAt.toISOString()} />
          </span>
          <span className="font-medium text-warn">
            <Sign name="ring" /> approved, not connected yet
          </span>
        </p>
      </div>
      <Form
        action={withdrawAction}
        hidden={{ id }}
        submit="Revoke"
        describedBy={`login-${id}`}
        question={
          <>
            Withdraw the approval of <strong className="font-semibold [overflow-wrap:anywhere]">{machine}</strong>? It
            gets no access.
          </>
        }
      />
    </li>
  );
}

function TokenRow({ token: { id, machine, ...token } }: { token: ListedToken }) {
  return (
    <li className="grid gap-x-6 gap-y-1 border-hairline border-b py-2.5 sm:grid-cols-[1fr_auto]">
      <div className="min-w-0">
        <p id={`machine-${id}`} className="font-medium [overflow-wrap:anywhere]">
          {machine}
        </p>
        <p className="flex flex-wrap gap-x-4 text-code text-muted">
          <span>may {scopeWords(token.scopes)}</span>
          <span>
            created <Time at={token.createdAt.toISOString()} />
          </span>
          <Heard token={token} />
          <span>
            expires <Time at={token.expiresAt.toISOString()} />
          </span>
        </p>
      </div>
      <Form
        action={revokeAction}
        hidden={{ id }}
        submit="Revoke"
        describedBy={`machine-${id}`}
        question={
          <>
            Revoke the token of <strong className="font-semibold [overflow-wrap:anywhere]">{machine}</strong>? The
            machine loses access at once. What it uploaded stays.
          </>
        }
      />
    </li>
  );
}
