"use client";
import { createContext, useContext } from "react";
import type { Outline } from "#lib/reader/outline";
import { makeStore, type Store } from "./store";

/** What the reader's page shares with its parts. */
export type Frame = {
  traceId: string;
  /** The position at the top of the page. */
  top: Store<number>;
  outline: Store<Outline | undefined>;
  jump: (position: number) => void;
};

export const FrameContext = createContext<Frame>({
  traceId: "",
  top: makeStore(0),
  outline: makeStore<Outline | undefined>(undefined),
  jump: () => {},
});

export const useFrame = (): Frame => useContext(FrameContext);
