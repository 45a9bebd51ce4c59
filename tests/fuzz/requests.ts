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

/** Bytes that no client would send; `path` is what a server may take them for. */
export type RawCall = { raw: Buffer; path: string };

export type Call = HttpCall | RawCall;

/** A response; `status` is 0 if there was none. */
export type Answer = { status: number; headers: Record<string, string>; text: string };

/** A case's requests, and how its responses must relate. */
export type Case = {
  /** The class in the report. */
  kind: string;
  calls: Call[];
  /** The decoded bodies of the calls that may be accepted as batches, where the sender knows them. */
  batches: (Buffer | undefined)[];
  /** @returns what is wrong with the responses as a whole */
  check?(answers: Answer[]): string | undefined;
};

/** What cases refer to: users, and objects on the server. */
export type World = {
  users: { id: string; token: string }[];
  traceIds: string[];
  jobIds: string[];
  deviceCodes: string[];
};

/** A text unique to the case: in its bodies, and never in an error response or a log. */
export const makeMarker = (seed: number, index: number) => `${anyMarker}${index}-${check(seed, index)}.`;
export const anyMarker = "fuzzmark-";
/** A damaged marker must not be taken for another case's. */
const check = (seed: number, index: number) => crc32(`${seed} ${index}`).toString(16);

/** An address unique to the case, because of limits by address. */
export const makeAddress = (index: number) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

export const getUser = (world: World, index: number) =>
  world.users[index % world.users.length] ?? { id: "", token: "" };

/** The headers of a valid batch. */
export const ingestHeaders = (world: World, index: number): Record<string, string> => ({
  Authorization: `Bearer ${getUser(world, index).token}`,
  "Content-Type": "application/json",
  "X-Forwarded-For": makeAddress(index),
});

/** What a function that makes cases is given. */
export type Making = { random: Random; marker: string; index: number; world: World };
export type Maker = (making: Making) => Omit<Case, "kind">;

/** The number of the case whose marker a text contains. */
export function indexIn(seed: number, text: string): number | undefined {
  const [, index, sum] = /fuzzmark-(\d+)-([0-9a-f]+)\./.exec(text) ?? [];
  return index === undefined || sum !== check(seed, Number(index)) ? undefined : Number(index);
}
