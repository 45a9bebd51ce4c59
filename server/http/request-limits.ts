// One network must not slow down the answers to others. A network is an IPv6 /48, or an IPv4 address.
import type { IncomingMessage, ServerResponse } from "node:http";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { limits } from "#lib/core/limits";
import { getSite } from "#lib/http/address";

/** The event loop runs one step of each page in progress before it answers anything else. */
const pagesAtOnce = 2;
/** Each waiting page costs memory. */
const maxWaiting = { perNetwork: 200, inAll: 2000 };
/** A longer wait is for the database, a thread or a slow form, and delays no other page. */
const maxHoldMs = 250;

const queue = new FairQueue(pagesAtOnce);
let waiting = 0;

export const hasTooManyPages = (address: string): boolean =>
  waiting >= maxWaiting.inAll || queue.countWaiting(getSite(address)) >= maxWaiting.perNetwork;

/** A turn ends when the page is rendered, or when the client does not read what was sent so far. */
export async function renderInTurn(address: string, response: ServerResponse, render: () => void): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  waiting += 1;
  const giveBack = await queue.take(getSite(address), gone.signal).catch(() => undefined);
  waiting -= 1;
  if (!giveBack || response.closed) return giveBack?.();
  const end = () => {
    clearTimeout(timer);
    giveBack();
  };
  const timer = setTimeout(end, maxHoldMs);
  response.once("prefinish", end);
  response.once("close", end);
  onBackpressure(response, end);
  render();
}

function onBackpressure(response: ServerResponse, act: () => void): void {
  const write = response.write as (...args: unknown[]) => boolean;
  response.write = (...args: unknown[]) => {
    const isTaken = write.apply(response, args);
    if (!isTaken) act();
    return isTaken;
  };
}

/** Next keeps in memory what has arrived of each. */
const arriving = new Map<IncomingMessage, string>();

/** Beyond the limit, the oldest body of the network with the most bodies is ended. */
export function limitBodies(
  request: IncomingMessage,
  address: string,
  max: number = limits.request.bodiesArriving,
): void {
  if (arriving.size >= max) endOldestBody(max);
  arriving.set(request, getSite(address));
  request.once("close", () => arriving.delete(request));
}

function endOldestBody(max: number): void {
  for (const request of arriving.keys()) if (request.complete) arriving.delete(request);
  if (arriving.size < max) return;
  const byNetwork = Map.groupBy(arriving.keys(), (request) => arriving.get(request));
  const [most] = [...byNetwork.values()].sort((a, b) => b.length - a.length);
  const [oldest] = most ?? [];
  if (!oldest) return;
  arriving.delete(oldest);
  oldest.destroy();
}
