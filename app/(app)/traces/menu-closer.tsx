"use client";
import { useEffect } from "react";

export function MenuCloser() {
  useEffect(() => {
    const opened = () => document.querySelector<HTMLDetailsElement>("details[data-menu][name=filter][open]");
    const onPointer = ({ target }: PointerEvent) => {
      const menu = opened();
      if (menu && !(target instanceof Node && menu.contains(target))) menu.open = false;
    };
    const onKey = ({ key }: KeyboardEvent) => {
      const menu = key === "Escape" ? opened() : null;
      if (!menu) return;
      menu.open = false;
      menu.querySelector("summary")?.focus();
    };
    document.addEventListener("pointerdown", onPointer);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("pointerdown", onPointer);
      document.removeEventListener("keydown", onKey);
    };
  }, []);
  return null;
}
