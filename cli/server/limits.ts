import { isFields } from "../files/json-lines.ts";
import type { Api } from "./api.ts";

/** What the server takes in one body. */
export type Limits = {
  wireBytes: number;
  decodedBytes: number;
  traces: number;
  messagesPerTrace: number;
  contentEncodings: string[];
};

/** The contract's own numbers, for a scan that no server is asked for. */
export const defaultLimits: Limits = {
  wireBytes: 64 * 1024 * 1024,
  decodedBytes: 256 * 1024 * 1024,
  traces: 1000,
  messagesPerTrace: 50_000,
  contentEncodings: ["gzip"],
};

/** Reads `GET /api/limits`. @throws as `Api.ask` */
export async function readLimits(api: Api): Promise<Limits> {
  const { body } = await api.ask("/api/limits");
  const told = isFields(body.ingest) ? body.ingest : {};
  const count = (name: "wireBytes" | "decodedBytes" | "traces" | "messagesPerTrace") => {
    const value = told[name];
    return typeof value === "number" && value > 0 ? value : defaultLimits[name];
  };
  const encodings = told.contentEncodings;
  return {
    wireBytes: count("wireBytes"),
    decodedBytes: count("decodedBytes"),
    traces: count("traces"),
    messagesPerTrace: count("messagesPerTrace"),
    contentEncodings: Array.isArray(encodings) ? encodings.map(String) : defaultLimits.contentEncodings,
  };
}
