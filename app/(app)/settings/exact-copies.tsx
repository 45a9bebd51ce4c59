import { listTokens } from "#lib/auth/tokens";
import { findKey } from "#lib/originals/keys";
import { sumOriginals } from "#lib/originals/queries";
import { formatBytes } from "#lib/transcript/text";
import { Fingerprint } from "../../components/fingerprint";
import { Section } from "../../components/section";
import { formatQuantity } from "../../components/values/figures";
import { Time } from "../../components/values/time";

export async function ExactCopies({ userId }: { userId: string }) {
  const [key, { copies, bytes }, tokens] = await Promise.all([
    findKey(userId),
    sumOriginals(userId),
    listTokens(userId),
  ]);
  const machines = new Set(tokens.filter(({ scopes }) => scopes.includes("originals")).map(({ machine }) => machine));
  if (!key && copies === 0 && machines.size === 0) return null;
  return (
    <Section id="exact-copies" title="Exact copies">
      <p className="text-muted">
        Sessions' files, encrypted on your machines. This server can't read them, and can't help if you lose the key.
      </p>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
        {key && (
          <>
            <dt className="text-muted">Key</dt>
            <dd>
              <Fingerprint of={key.fingerprint} />{" "}
              <span className="text-muted">
                since <Time at={key.createdAt.toISOString()} as="moment" />
              </span>
            </dd>
          </>
        )}
        <dt className="text-muted">Stored</dt>
        <dd title={formatQuantity(bytes, "byte")}>
          {formatQuantity(copies, "session")}, {formatBytes(bytes)}
        </dd>
        <dt className="text-muted">Allowed for</dt>
        <dd className="[overflow-wrap:anywhere]">
          {machines.size > 0 ? [...machines].join(", ") : "no machine"} (
          <a href="/devices" className="link">
            Machines
          </a>
          )
        </dd>
      </dl>
      {copies > 0 && (
        <p>
          <a href="/api/originals/export" download="exact-copies.tar" className="link target">
            Export exact copies
          </a>
        </p>
      )}
      {key && (
        <p className="text-muted">
          The key must be the one that <code className="font-mono">spoor originals status</code> shows on your machines.
        </p>
      )}
    </Section>
  );
}
