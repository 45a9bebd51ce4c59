"use client";
import dynamic from "next/dynamic";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import type { Column } from "./bars";

type Props = { columns: Column[]; names: string[]; top: number; children: ReactNode };

/** Loaded and drawn in the browser only: its server rendering has style attributes, which the policy forbids. */
const Recharts = dynamic(() => import("./recharts").then(({ RechartsBars }) => RechartsBars), { ssr: false });

/** The server's chart (`children`) until the interactive one is drawn in its place. */
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
