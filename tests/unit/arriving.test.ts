import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { Arriving } from "#lib/server/arriving";

const waiting = (): IncomingMessage => new IncomingMessage(new Socket());
const states = (requests: IncomingMessage[]) => requests.map(({ destroyed }) => (destroyed ? "ended" : "waits"));

test("one body too many ends the oldest of the network that has the most, and none that has come whole", () => {
  const arriving = new Arriving(4);
  const [own, whole, ...greedy] = Array.from({ length: 6 }, waiting);
  if (!own || !whole) throw new Error("there are six");
  whole.complete = true;
  arriving.enter(own, "10.0.0.1");
  arriving.enter(whole, "10.0.0.2");
  for (const request of greedy.slice(0, 3)) arriving.enter(request, "10.0.0.2");
  expect(states([own, whole, ...greedy])).toEqual(Array(6).fill("waits"));
  const other = waiting();
  arriving.enter(other, "10.0.0.3");
  expect(states([own, whole, other, ...greedy])).toEqual([
    "waits",
    "waits",
    "waits",
    "ended",
    "waits",
    "waits",
    "waits",
  ]);
});

test("a request that is over leaves its place", () => {
  const arriving = new Arriving(1);
  const [first, second] = [waiting(), waiting()];
  arriving.enter(first, "10.0.0.1");
  first.emit("close");
  arriving.enter(second, "10.0.0.1");
  expect(states([first, second])).toEqual(["waits", "waits"]);
});
