"use client";
import { createContext, useContext } from "react";

const PageRequest = createContext<string | undefined>(undefined);

/** Gives the error page, which runs in the browser alone, the id of the request that the page came with. */
export function PageRequestProvider({ id, children }: { id: string | undefined; children: React.ReactNode }) {
  return <PageRequest value={id}>{children}</PageRequest>;
}

export const usePageRequest = () => useContext(PageRequest);
