import "server-only";
import { sha256 } from "#lib/core/digest";
import { isOutage } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { getNetwork } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";

const { sharedPagesPerMinutePerNetwork, sharedPagesPerMinutePerLink } = limits.traces;
/** Set by the middleware on every page request: the link already counted. */
export const sharedTokenHeader = "x-spoor-shared-token";

const perNetwork = { points: sharedPagesPerMinutePerNetwork, seconds: 60 };
const perLink = { points: sharedPagesPerMinutePerLink, seconds: 60 };

/**
 * @param address `unknown` if the host provides none: only the link is limited then, since all readers would count as one
 * @returns seconds to wait if the network or the link is over its limit
 */
export async function overShareLimit(token: string, address: string): Promise<number | undefined> {
  try {
    const wait = address === "unknown" ? undefined : await overLimit("shared-network", getNetwork(address), perNetwork);
    return wait ?? (await overLimit("shared-link", sha256(token).toString("base64url"), perLink));
  } catch (error) {
    if (isOutage(error)) return undefined; // the page itself says that the database is away
    throw error;
  }
}
