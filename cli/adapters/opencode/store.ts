import type { Fields } from "../../files/json.ts";

/** Access to one session. Messages and parts are in their order. */
export type Store = {
  /** Whether its messages have the shape of newer versions, without parts. */
  isNewer: boolean;
  /** The session's details; undefined where they can't be read, which is counted. */
  session(): Promise<Fields | undefined>;
  messageIds(): Promise<string[]>;
  message(id: string): Promise<Fields | undefined>;
  parts(messageId: string): AsyncIterable<Fields>;
};
