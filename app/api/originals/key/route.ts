import { endpoint, route } from "#lib/api/route";
import { readOrigin } from "#lib/auth/audit";
import { notFound } from "#lib/core/errors";
import { readOriginalKey, setOriginalKey } from "#lib/originals/api";
import { readCondition } from "#lib/originals/condition";
import { findKey, type OwnKey, setKey } from "#lib/originals/keys";

const tell = ({ createdAt, ...key }: OwnKey) => ({ ok: true as const, ...key, createdAt: createdAt.toISOString() });

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readOriginalKey, async ({ caller }) => {
    const key = await findKey(caller.userId);
    if (!key) throw notFound();
    return tell(key);
  }),
  PUT: endpoint(setOriginalKey, async ({ request, caller, body }) => {
    const { headers } = request;
    return tell(await setKey(caller.userId, body.recipient, readCondition(headers), readOrigin(headers)));
  }),
});
