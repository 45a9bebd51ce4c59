"use client";
import { useEffect, useState } from "react";

/**
 * A placeholder over a slow page, shown by `data-loading` (navigation.tsx). Rendered in the browser only, which keeps
 * pages small.
 */
export function Shapes() {
  const [isReady, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return (
    <div aria-hidden="true" className="shapes">
      {isReady && (
        <div className="wide">
          <span className="w-40" />
          {Array.from({ length: 9 }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows that never change
            <p key={row}>
              <span className={row % 3 === 1 ? "w-1/2" : "w-2/3"} />
              <span className="w-1/4" />
            </p>
          ))}
        </div>
      )}
    </div>
  );
}
