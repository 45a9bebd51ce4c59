import { isFields } from "../files/json.ts";
import type { PartLimits } from "../sessions/session.ts";
import type { Api } from "./api.ts";

export type Limits = {
  wireBytes: number;
  decodedBytes: number;
  traces: number;
  messagesPerTrace: number;
  contentEncodings: string[];
};

/** The server's defaults, for scans and dry runs, which ask no server. */
export const defaultLimits: Limits = {
  wireBytes: 64 * 1024 * 1024,
  decodedBytes: 256 * 1024 * 1024,
  traces: 1000,
  messagesPerTrace: 50_000,
  contentEncodings: ["gzip"],
};

/** The server stores a part at once, so parts are large, but fit into memory. */
export const toPartLimits = ({ decodedBytes, wireBytes, messagesPerTrace }: Limits): PartLimits => ({
  bytes: Math.min(decodedBytes, maxPartBytes) - 16,
  wireBytes,
  messages: messagesPerTrace,
});

const maxPartBytes = 128 * 1024 * 1024;

export async function readLimits(api: Api): Promise<Limits> {
  const { body } = await api.request("/api/limits");
  const ingest = isFields(body.ingest) ? body.ingest : {};
  const count = (name: "wireBytes" | "decodedBytes" | "traces" | "messagesPerTrace") => {
    const value = ingest[name];
    return typeof value === "number" && value > 0 ? value : defaultLimits[name];
  };
  const encodings = ingest.contentEncodings;
  return {
    wireBytes: count("wireBytes"),
    decodedBytes: count("decodedBytes"),
    traces: count("traces"),
    messagesPerTrace: count("messagesPerTrace"),
    contentEncodings: Array.isArray(encodings) ? encodings.map(String) : defaultLimits.contentEncodings,
  };
}
