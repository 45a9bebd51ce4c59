import { onTestFinished, vi } from "vitest";

/** Keeps every `AbortSignal.timeout` from ending by itself in this test. @returns the created ones, in order */
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
