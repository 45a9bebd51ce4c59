"use client";
import dynamic from "next/dynamic";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import type { Column } from "./bars";

type Props = { columns: Column[]; names: string[]; top: number; children: ReactNode };

/** Is fetched and drawn in the browser alone: what a server would render of it has style attributes, which no page may. */
const Recharts = dynamic(() => import("./recharts").then(({ RechartsBars }) => RechartsBars), { ssr: false });

/** The server's drawing (`children`) until the live one lies at its very place. */
export function LiveBars({ columns, names, top, children }: Props) {
  const [mounted, setMounted] = useState(false);
  const [drawn, setDrawn] = useState(false);
  const onDrawn = useCallback(() => setDrawn(true), []);
  useEffect(() => setMounted(true), []);
  return (
    <>
      {!drawn && children}
      {mounted && <Recharts columns={columns} names={names} top={top} onDrawn={onDrawn} />}
    </>
  );
}
