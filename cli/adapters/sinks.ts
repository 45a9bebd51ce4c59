import type { Sink } from "./adapter.ts";

/** For a second reading, whose entries are already counted. */
export const silentSink = { entry() {}, skipped() {}, invalid() {}, message() {}, tooLong() {}, pause: async () => {} };

/** Forwards every call, so that the methods of a sink can be replaced one by one. */
export const forwardTo = (sink: Sink): Sink => ({
  begin: (source, sourceId, messages) => sink.begin(source, sourceId, messages),
  message: (message) => sink.message(message),
  end: (details) => sink.end(details),
  reject: (reason) => sink.reject(reason),
  lost: (reason) => sink.lost(reason),
  folder: (path) => sink.folder(path),
  entry: (line) => sink.entry(line),
  skipped: () => sink.skipped(),
  invalid: (reason) => sink.invalid(reason),
  unhandled: (type) => sink.unhandled(type),
  checkpoint: (at) => sink.checkpoint(at),
  ignoresCheckpoints: sink.ignoresCheckpoints ?? false,
  pause: () => sink.pause(),
});

export const withoutCounts = (sink: Sink): Sink => ({
  ...forwardTo(sink),
  checkpoint() {},
  ignoresCheckpoints: true,
  lost() {},
  entry() {},
  skipped() {},
  invalid() {},
  unhandled() {},
});
