import "server-only";
import type { z } from "zod";
import { linkTo } from "#lib/mcp/answer";
import type { recallPlaces } from "#lib/mcp/api";
import { shown } from "#lib/mcp/quote";
import { pastPlaces } from "#lib/mcp/tools/fix";

/** @throws SpoorError as `pastPlaces` */
export async function recall(
  userId: string,
  { error, project }: z.output<typeof recallPlaces.query>,
): Promise<z.input<typeof recallPlaces.response>> {
  const { places, isExact } = await pastPlaces(userId, error, { project }, 3);
  const listed = places.map(({ trace, position, createdAt, excerpt, said }) => ({
    ...{ session: trace.id, source: shown(trace.source), position, excerpt },
    project: trace.project === null ? null : shown(trace.project),
    title: trace.title === null ? null : shown(trace.title),
    at: createdAt ?? (trace.dated ? trace.updatedAt : null),
    link: linkTo(trace.id, position ?? undefined),
    said: said?.text ?? null,
  }));
  return { ok: true, exact: isExact, places: listed };
}
