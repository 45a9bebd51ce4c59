import { z } from "zod";
import { SpoorError } from "#lib/core/errors";

export const encodeCursor = (place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");

/** @throws SpoorError `invalid_request` for an invalid cursor */
export function decodeCursor<Shape extends z.ZodType>(shape: Shape, cursor: string): z.output<Shape> {
  try {
    return shape.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw makeCursorError();
  }
}

export function makeCursorError(): SpoorError {
  const errors = [{ path: "cursor", message: "is not one that this list gave out" }];
  return new SpoorError("invalid_request", "The request is not valid; see errors.", { errors });
}
