import type { Fields } from "../../files/json.ts";
import type { Originals } from "../originals.ts";

/** Access to one session. Messages and parts are in their order. */
export type Store = {
  /** Whether its messages have the shape of newer versions, without parts. */
  isNewer: boolean;
  /** The session's details; undefined where they can't be read, which is counted. */
  session(): Promise<Fields | undefined>;
  /** The sessions that it may be a fork of. What they have is known by the time of a message. */
  originals(): Promise<Originals<number>>;
  messageIds(): Promise<string[]>;
  message(id: string): Promise<Fields | undefined>;
  parts(messageId: string): AsyncIterable<Fields>;
};
