import type { Sink } from "./adapter.ts";

/** A sink for looking into another session's file: it takes and counts nothing. */
export const silentSink = { entry() {}, skipped() {}, invalid() {}, message() {}, pause: async () => {} };

/** A sink for reading an input a second time: it takes sessions and counts nothing. */
export const withoutCounts = (sink: Sink): Sink => ({
  begin: (source, sourceId) => sink.begin(source, sourceId),
  message: (message) => sink.message(message),
  end: (details) => sink.end(details),
  reject: (reason) => sink.reject(reason),
  folder: (path) => sink.folder(path),
  pause: () => sink.pause(),
  checkpoint() {},
  ignoresCheckpoints: true,
  lost() {},
  entry() {},
  skipped() {},
  invalid() {},
  unhandled() {},
});
