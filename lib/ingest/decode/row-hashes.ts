// Runs in the decoding thread: hashes of message rows, by which stored messages that differ are found.
import { hash } from "node:crypto";
import type { MessageRows } from "#lib/ingest/decode/message-rows";

/** The stored messages of a trace: their positions, and their hashes in the same order. */
export type StoredHashes = { positions: number[]; hashes: string[] };

/**
 * Positions of the messages that are stored as they are in the batch, and of those that are not; and how many messages of the
 * batch have positions at which none is stored.
 */
export type Comparison = { same: number[]; other: number[]; added: number };

/** Compares a trace's rows with what is stored of it. */
export function compareRows(rows: MessageRows, stored: StoredHashes): Comparison {
  const hashes = new Map<number, string>();
  for (let at = 0; at < rows.end; at = rows.next(at)) hashes.set(rows.read(at).position, hashRow(rows, at));
  const isSame = (position: number, index: number) => hashes.get(position) === stored.hashes[index];
  return {
    same: stored.positions.filter(isSame),
    other: stored.positions.filter((position, index) => !isSame(position, index)),
    added: hashes.size - stored.positions.filter((position) => hashes.has(position)).length,
  };
}

/** SHA-256, in Base64, of a row's fields as COPY has them; metadata as the text of its jsonb. `hashStored` is its twin in SQL. */
function hashRow(rows: MessageRows, start: number): string {
  const { fields, metadata } = rows.parts(start);
  if (!metadata) return hash("sha256", fields, "base64");
  const json = Buffer.from(jsonbText(JSON.parse(metadata.toString("utf8"))));
  return hash("sha256", Buffer.concat([fields, json]), "base64");
}

/**
 * JSON as PostgreSQL writes a jsonb: keys by length, then by bytes; numbers without exponent. Where it were written
 * otherwise, a message would be taken for a different one and be written again.
 */
function jsonbText(value: unknown): string {
  if (typeof value === "number") return withoutExponent(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(", ")}]`;
  const entries = Object.entries(value)
    .map(([key, item]) => ({ key, bytes: Buffer.from(key), item }))
    .sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return `{${entries.map(({ key, item }) => `${JSON.stringify(key)}: ${jsonbText(item)}`).join(", ")}}`;
}

function withoutExponent(value: number): string {
  const text = JSON.stringify(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!parts) return text;
  const [, sign, first, decimals = "", exponent] = parts;
  const digits = `${first}${decimals}`;
  const point = 1 + Number(exponent);
  return point <= 0
    ? `${sign}0.${"0".repeat(-point)}${digits}`
    : `${sign}${digits.slice(0, point).padEnd(point, "0")}${digits.length > point ? `.${digits.slice(point)}` : ""}`;
}
