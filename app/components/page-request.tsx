"use client";
import { createContext, useContext } from "react";

const PageRequest = createContext<string | undefined>(undefined);

/** Passes the request's id to the error page, which runs only in the browser. */
export function PageRequestProvider({ id, children }: { id: string | undefined; children: React.ReactNode }) {
  return <PageRequest value={id}>{children}</PageRequest>;
}

export const usePageRequest = () => useContext(PageRequest);
