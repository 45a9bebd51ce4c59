// Pages are rendered a few at a time. Each takes some milliseconds in several steps, and the event loop runs one step of each
// before it answers anything else.
import type { IncomingMessage, ServerResponse } from "node:http";
import { FairQueue } from "#lib/concurrency/fair-queue";
import { siteOf } from "#lib/http/address";
import { isApi } from "#lib/server/refusals";

/** How many pages are rendered at once. */
const slots = 2;
/** How many may wait in one network: those that wait cost memory. */
const maxWaiting = 200;
/** A page that takes longer waits for the database, for a thread, or for a slow client: the others need not. */
const maxHoldMs = 250;

const queue = new FairQueue(slots);

/** Whether a request is for a page or for one of its actions, and not for a file or the API. */
export const isPage = ({ url = "" }: IncomingMessage): boolean =>
  !isApi(url) && !/^\/(?:_next\/|(?:icon\.svg|robots\.txt|spoor\.mjs)(?:\?|$))/.test(url);

/** Whether so many pages of a network wait that it has to ask later. */
export const hasTooManyPages = (address: string): boolean => queue.waitingOf(siteOf(address)) >= maxWaiting;

/**
 * Renders a page when it is its turn, in turns with the other networks, unless the client is gone by then. The turn ends with
 * the response.
 *
 * @param address the client's.
 */
export async function renderInTurn(address: string, response: ServerResponse, render: () => void): Promise<void> {
  const giveBack = await queue.take(siteOf(address));
  if (response.closed) return giveBack();
  const end = () => {
    if (!ended) giveBack();
    ended = true;
    clearTimeout(timer);
  };
  let ended = false;
  const timer = setTimeout(end, maxHoldMs);
  response.once("finish", end);
  response.once("close", end);
  render();
}
