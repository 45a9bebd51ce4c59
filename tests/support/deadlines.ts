import { onTestFinished, vi } from "vitest";

/** From now on no `AbortSignal.timeout` ends by itself in this test. @returns those that were made, in their order */
export function holdDeadlines(): { ms: number; pass: () => void }[] {
  const made: { ms: number; pass: () => void }[] = [];
  const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const controller = new AbortController();
    made.push({ ms, pass: () => controller.abort(new DOMException("It took too long.", "TimeoutError")) });
    return controller.signal;
  });
  onTestFinished(() => timeout.mockRestore());
  return made;
}
