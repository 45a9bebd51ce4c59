"use client";
import { useKeys } from "../../../../components/shell/keys";
import { goTo } from "../../../../components/shell/navigation";

export function ChangeKeys({ back }: { back: string }) {
  const bindings: [keys: string, does: string, run: () => void][] = [
    ["j", "Next file", () => step(1)],
    ["k", "Previous file", () => step(-1)],
    ["u", "Back to the session", () => goTo(back)],
  ];
  useKeys(
    "All changes",
    bindings.map(([keys, does, run]) => ({ keys, does, run })),
  );
  return null;
}

function step(by: 1 | -1): void {
  const files = [...document.querySelectorAll<HTMLElement>("[data-change]")];
  const focused = files.indexOf(document.activeElement as HTMLElement);
  const top = files.findIndex((file) => file.getBoundingClientRect().top > 60);
  const next = focused !== -1 ? focused + by : by === 1 ? top : (top === -1 ? files.length : top) - 1;
  const file = files[Math.min(files.length - 1, Math.max(0, next))];
  file?.focus({ preventScroll: true });
  file?.scrollIntoView({ block: "start", behavior: "instant" });
}
