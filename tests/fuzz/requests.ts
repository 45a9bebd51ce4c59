import { crc32 } from "node:zlib";
import type { Random } from "./random.ts";

/** A request that an HTTP client can send. */
export type HttpCall = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Where the body is cut into chunks, of a body without a Content-Length. */
  cuts?: number[];
};

/** Bytes that none would send; `path` is what they may be taken for. */
export type RawCall = { raw: Buffer; path: string };

export type Call = HttpCall | RawCall;

/** One answer; `status` is 0 where none came. */
export type Answer = { status: number; headers: Record<string, string>; text: string };

/** What a case does, and how its answers must hang together. */
export type Case = {
  /** The class it is counted under. */
  kind: string;
  calls: Call[];
  /** The decoded bodies of the calls that may be taken as batches, as the sender knows them. */
  batches: (Buffer | undefined)[];
  /** @returns what is wrong with the answers together */
  check?(answers: Answer[]): string | undefined;
};

/** What cases are made for: users, and things that exist on the server. */
export type World = {
  users: { id: string; token: string }[];
  traceIds: string[];
  jobIds: string[];
  deviceCodes: string[];
};

/** A text of the case's own: in its bodies, and never in an answer that refuses or in a log. */
export const markerOf = (seed: number, index: number) => `${anyMarker}${index}-${check(seed, index)}.`;
export const anyMarker = "fuzzmark-";
/** A marker that was damaged on its way must not pass for another case's. */
const check = (seed: number, index: number) => crc32(`${seed} ${index}`).toString(16);

/** An address of the case's own, for what is limited by address. */
export const addressOf = (index: number) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

export const userOf = (world: World, index: number) => world.users[index % world.users.length] ?? { id: "", token: "" };

/** The headers of a batch that nothing is wrong with. */
export const ingestHeaders = (world: World, index: number): Record<string, string> => ({
  Authorization: `Bearer ${userOf(world, index).token}`,
  "Content-Type": "application/json",
  "X-Forwarded-For": addressOf(index),
});

/** What a maker of cases is given. */
export type Making = { random: Random; marker: string; index: number; world: World };
export type Maker = (making: Making) => Omit<Case, "kind">;

/** The number of the case whose marker is in a text. */
export function indexIn(seed: number, text: string): number | undefined {
  const [, index, sum] = /fuzzmark-(\d+)-([0-9a-f]+)\./.exec(text) ?? [];
  return index === undefined || sum !== check(seed, Number(index)) ? undefined : Number(index);
}
