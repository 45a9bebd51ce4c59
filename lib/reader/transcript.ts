import type { ReaderMessage } from "#lib/reader/message";

const heading = /^_\*\*(Agent|User)[^*\n]{0,200}\*\*_[ \t]*$/gm;
const moment = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?Z/;

/** Exporters head a sub-agent's messages with lines such as `_**Agent - sidechain (model time)**_`. */
export function readTranscript(text: string): ReaderMessage[] {
  const headings = [...text.matchAll(heading)];
  return headings.map((found, index) => {
    const from = found.index + found[0].length;
    const [, day, clock] = moment.exec(found[0]) ?? [];
    const createdAt = day && clock ? new Date(`${day}T${clock}Z`) : undefined;
    return {
      position: index,
      role: found[1] === "User" ? "user" : "assistant",
      content: text.slice(from, headings[index + 1]?.index).trim(),
      tokenCount: null,
      createdAt: createdAt && !Number.isNaN(createdAt.getTime()) ? createdAt.toISOString() : null,
      metadata: null,
    };
  });
}
