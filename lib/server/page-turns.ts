// Pages are rendered a few at a time. Each takes some milliseconds in several steps, and the event loop runs one step of each
// before it answers anything else.
import type { IncomingMessage, ServerResponse } from "node:http";
import { FairQueue } from "#lib/concurrency/fair-queue";
import { getSite } from "#lib/http/address";
import { isApi } from "#lib/server/refusals";

/** How many pages are rendered at once. */
const slots = 2;
/** How many may wait, in one network and in all: those that wait cost memory. */
const maxWaiting = { perNetwork: 200, inAll: 2000 };
/** A page that takes longer waits for the database or for a thread: the others need not. */
const maxHoldMs = 250;

const queue = new FairQueue(slots);

/** Whether a request is for a page or for one of its actions, and not for a file or the API. */
export const isPage = ({ url = "" }: IncomingMessage): boolean =>
  !isApi(url) && !/^\/(?:_next\/|(?:icon\.svg|agents\.svg|robots\.txt|spoor\.mjs)(?:\?|$))/.test(url);

let waiting = 0;

/** Whether so many pages wait, of a network or of all, that it has to ask later. */
export const hasTooManyPages = (address: string): boolean =>
  waiting >= maxWaiting.inAll || queue.countWaiting(getSite(address)) >= maxWaiting.perNetwork;

/**
 * Renders a page when it is its turn, in turns with the other networks, unless the client is gone by then. The turn ends when
 * the page is rendered, or when its client does not take what was sent so far: what is left waits for it.
 *
 * @param address the client's.
 */
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

/** Calls `act` when a response has more to send than its client takes. */
function onBackpressure(response: ServerResponse, act: () => void): void {
  const write = response.write as (...args: unknown[]) => boolean;
  response.write = (...args: unknown[]) => {
    const isTaken = write.apply(response, args);
    if (!isTaken) act();
    return isTaken;
  };
}
