import type { Sink } from "./adapter.ts";

/** A sink that takes sessions and counts nothing, for what is read a second time. */
export const withoutCounts = (sink: Sink): Sink => ({
  begin: (...words) => sink.begin(...words),
  message: (message) => sink.message(message),
  end: (ending) => sink.end(ending),
  reject: (reason) => sink.reject(reason),
  pause: () => sink.pause(),
  lost() {},
  entry() {},
  skipped() {},
  invalid() {},
  unhandled() {},
});
