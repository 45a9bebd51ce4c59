"use client";
import { createContext, useContext } from "react";
import type { Outline } from "#lib/transcript/outline";
import type { Edge } from "./geometry";

export type Store<T> = {
  get: () => T;
  set: (value: T) => void;
  subscribe: (listener: () => void) => () => void;
};

export function makeStore<T>(initial: T): Store<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(current, value)) return;
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export type Frame = {
  page: string;
  traceId: string | undefined;
  /** The position at the top of the page. */
  top: Store<number>;
  /** The position of the last row that begins in view. */
  bottom: Store<number>;
  outline: Store<Outline | undefined>;
  zone: string;
  jump: (position: number, near?: boolean) => void;
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
