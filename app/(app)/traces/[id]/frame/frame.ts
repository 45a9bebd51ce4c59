"use client";
import { createContext, useContext } from "react";
import type { Outline } from "#lib/reader/outline";
import type { Edge } from "./geometry";
import { makeStore, type Store } from "./store";

/** What the reader's page shares with its parts. */
export type Frame = {
  /** The path of the page. */
  page: string;
  /** One's own session; none for who reads another's by a link. */
  traceId: string | undefined;
  /** The position at the top of the page. */
  top: Store<number>;
  /** The position of the last row that has begun in view. */
  bottom: Store<number>;
  outline: Store<Outline | undefined>;
  /** The reader's time zone. */
  zone: string;
  /** Jumps, with a new entry in the history. @param near whether a message beside it does as well */
  jump: (position: number, near?: boolean) => void;
  /** Brings a message, or one beside it, to the top without taking the focus. */
  look: (position: number) => void;
  toEdge: (edge: Edge) => void;
};

export const FrameContext = createContext<Frame>({
  page: "",
  traceId: undefined,
  zone: "UTC",
  top: makeStore(0),
  bottom: makeStore(0),
  outline: makeStore<Outline | undefined>(undefined),
  jump: () => {},
  look: () => {},
  toEdge: () => {},
});

export const useFrame = (): Frame => useContext(FrameContext);
