import { hash } from "node:crypto";
import type { MessageRows } from "#lib/ingest/decode/message-rows";

export type StoredHashes = { positions: number[]; hashes: string[] };

/** `same` and `other` are positions of stored messages; `added` counts the batch's messages at free positions. */
export type Comparison = { same: number[]; other: number[]; added: number };

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

/** `hashStored` makes the same hash in SQL. */
function hashRow(rows: MessageRows, start: number): string {
  const { fields, metadata } = rows.parts(start);
  if (!metadata) return hash("sha256", fields, "base64");
  const json = Buffer.from(jsonbText(JSON.parse(metadata.toString("utf8"))));
  return hash("sha256", Buffer.concat([fields, json]), "base64");
}

/**
 * PostgreSQL sorts keys by length, then by bytes, and writes no exponent. A difference would only write a message
 * again.
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
