import { EventEmitter } from "node:events";
import { IncomingMessage, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { isPage } from "#server/http/refusals";
import { hasTooManyPages, limitBodies, renderInTurn } from "#server/http/request-limits";

afterEach(() => vi.useRealTimers());

/** A response as far as turns know it; a slow client takes nothing at once. */
const makeResponse = (isSlow = false) =>
  Object.assign(new EventEmitter(), { closed: false, write: () => !isSlow }) as unknown as ServerResponse;

test("two pages are rendered at once; the next one begins when one of them has ended, a network without one first", async () => {
  const rendered: string[] = [];
  const ask = (address: string) => {
    const response = makeResponse();
    renderInTurn(address, response, () => rendered.push(address));
    return response;
  };
  const [first, second] = ["10.0.0.1", "10.0.0.1"].map(ask);
  const waiting = ask("10.0.0.1");
  const other = ask("10.0.0.2");
  const gone = ask("10.0.0.3");
  Object.assign(gone, { closed: true });
  await sleep(0);
  expect(rendered).toEqual(Array(2).fill("10.0.0.1"));
  first?.emit("prefinish");
  first?.emit("close"); // ends the turn once
  await sleep(0);
  expect(rendered.slice(2)).toEqual(["10.0.0.2"]);
  second?.emit("close");
  await sleep(0);
  expect(rendered.slice(3)).toEqual(["10.0.0.1"]);
  for (const response of [waiting, other]) response.emit("close");
});

test("a page that takes long lets the others begin", async () => {
  vi.useFakeTimers();
  let rendered = 0;
  for (let page = 0; page < 8; page += 1) renderInTurn("10.0.1.1", makeResponse(), () => (rendered += 1));
  for (const expected of [2, 4, 6, 8]) {
    await vi.advanceTimersByTimeAsync(expected === 2 ? 0 : 250);
    expect(rendered).toBe(expected);
  }
  await vi.advanceTimersByTimeAsync(250);
});

test("a thousand clients that don't take what they are sent hold up nobody", async () => {
  let rendered = 0;
  const slow = Array.from({ length: 1000 }, (_, n) => {
    const response = makeResponse(true);
    renderInTurn(`10.1.${n >> 8}.${n & 255}`, response, () => {
      rendered += 1;
      response.write("a page");
    });
    return response;
  });
  const last = makeResponse();
  await new Promise<void>((resolve) => renderInTurn("10.0.2.1", last, resolve));
  expect(rendered).toBe(1000);
  for (const response of [...slow, last]) response.emit("close");
});

test("2,000 pages of all networks may wait, and none of them for a client that is gone", async () => {
  const all = Array.from({ length: 2004 }, (_, n) => {
    const response = makeResponse();
    renderInTurn(`10.2.${n >> 8}.${n & 255}`, response, () => {});
    return response;
  });
  expect(hasTooManyPages("10.0.3.1")).toBe(true);
  for (const gone of all.slice(-5)) gone.emit("close");
  await sleep(0);
  expect(hasTooManyPages("10.0.3.1")).toBe(false);
  for (const response of all.reverse()) response.emit("close");
  await sleep(0);
});

test("files and the API are no pages", () => {
  const isPageAt = (url: string) => isPage({ url } as IncomingMessage);
  expect(["/", "/traces/1?at=2", "/shared/x", "/apis", "/_nextx", "/icon.svgx"].filter(isPageAt)).toHaveLength(6);
  expect(
    ["/api", "/api/health", "/_next/static/a.js", "/icon.svg?1", "/agents.svg", "/robots.txt", "/spoor.mjs"].filter(
      isPageAt,
    ),
  ).toEqual([]);
});

const waiting = (): IncomingMessage => new IncomingMessage(new Socket());
const states = (requests: IncomingMessage[]) => requests.map(({ destroyed }) => (destroyed ? "ended" : "waits"));

test("one body too many ends the oldest of the network that has the most, and none that has come whole", () => {
  const [own, whole, ...greedy] = Array.from({ length: 6 }, waiting);
  if (!own || !whole) throw new Error("there are six");
  whole.complete = true;
  limitBodies(own, "10.0.0.1", 4);
  limitBodies(whole, "10.0.0.2", 4);
  for (const request of greedy.slice(0, 3)) limitBodies(request, "10.0.0.2", 4);
  expect(states([own, whole, ...greedy])).toEqual(Array(6).fill("waits"));
  const other = waiting();
  limitBodies(other, "10.0.0.3", 4);
  expect(states([own, whole, other, ...greedy])).toEqual([
    "waits",
    "waits",
    "waits",
    "ended",
    "waits",
    "waits",
    "waits",
  ]);
  for (const request of [own, whole, other, ...greedy]) request.emit("close");
});

test("a request that is over leaves its place", () => {
  const [first, second] = [waiting(), waiting()];
  limitBodies(first, "10.0.0.1", 1);
  first.emit("close");
  limitBodies(second, "10.0.0.1", 1);
  expect(states([first, second])).toEqual(["waits", "waits"]);
});
