"use client";
import { useState } from "react";

export function FilterSwitch({ count, controls }: { count: number; controls: string }) {
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    document.getElementById(controls)?.toggleAttribute("data-open", !isOpen);
    setOpen(!isOpen);
  };
  return (
    <button
      type="button"
      onClick={toggle}
      aria-expanded={isOpen}
      aria-controls={controls}
      className="button sm:hidden noscript:hidden"
    >
      Filter{count > 0 && `·${count}`}
    </button>
  );
}
