"use client";
import { useCallback, useRef, useState } from "react";
import { PictureDialog } from "../interaction/picture-dialog";
import { useBodies } from "../interaction/use-bodies";
import { useCopy } from "../interaction/use-copy";
import { useFolds } from "../interaction/use-folds";
import type { Markup } from "../segments/render";
import type { BodyRequest } from "../segments/request";

type Props = { markup: Markup; load: (body: BodyRequest) => Promise<string | undefined> };

export function SharedMessages({ markup, load }: Props) {
  const list = useRef<HTMLDivElement | null>(null);
  const [said, setSaid] = useState("");
  const latest = useRef(load);
  latest.current = load;
  const loadOne = useCallback((body: BodyRequest) => latest.current(body), []);
  const restore = useFolds(list);
  const place = useCallback(
    (element: HTMLDivElement | null) => {
      list.current = element;
      restore(element);
    },
    [restore],
  );
  useBodies(list, loadOne, restore);
  useCopy(list, "", setSaid);
  return (
    <>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: messages/markup.ts wrote it, by lists of elements and attributes */}
      <div ref={place} data-messages dangerouslySetInnerHTML={markup} />
      <PictureDialog list={list} />
      <p role="status" className="sr-only">
        {said}
      </p>
    </>
  );
}
