"use client";
import { useRef, useState } from "react";
import { asWidth, widthCookie, widths } from "./widths";

type Props = { width: number; isShown: boolean; children: React.ReactNode };

export function OutlineAside({ width: kept, isShown, children }: Props) {
  const [width, setWidth] = useState(kept);
  const aside = useRef<HTMLElement>(null);
  const rem = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  const follow = ({ clientX, currentTarget, pointerId }: React.PointerEvent) => {
    if (!currentTarget.hasPointerCapture(pointerId) || !aside.current) return;
    setWidth(asWidth((clientX - aside.current.getBoundingClientRect().left) / rem()));
  };
  const onKey = (event: React.KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: width - 1,
      ArrowRight: width + 1,
      Home: widths.min,
      End: widths.max,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setWidth(asWidth(next));
    keep(asWidth(next));
  };
  return (
    <aside
      ref={aside}
      aria-label="Outline"
      hidden={!isShown}
      data-width={width}
      className="outline-aside sticky top-[calc(var(--bar)+2.75rem)] flex h-[calc(100dvh-var(--bar)-2.75rem)] shrink-0 flex-col py-3 max-lg:hidden print:hidden [&[hidden]]:hidden"
    >
      {children}
      {/* biome-ignore lint/a11y/useSemanticElements: an <hr> can't be moved */}
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the outline"
        aria-valuenow={width}
        aria-valuemin={widths.min}
        aria-valuemax={widths.max}
        tabIndex={0}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={follow}
        onLostPointerCapture={() => keep(width)}
        onDoubleClick={() => {
          setWidth(widths.usual);
          keep(widths.usual);
        }}
        onKeyDown={onKey}
        className="needs-script absolute inset-y-0 -right-2 z-[1] w-2 cursor-col-resize touch-none border-transparent border-l-2 hover:border-accent focus-visible:border-accent"
      />
    </aside>
  );
}

function keep(width: number): void {
  const secure = location.protocol === "https:" ? "; secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API does not exist over plain http
  document.cookie = `${widthCookie}=${width}; path=/; max-age=31536000; samesite=lax${secure}`;
}
