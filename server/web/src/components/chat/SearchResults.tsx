import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Button } from "@/components/ui/Button";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { marked } from "@/lib/marked";
import { useUI } from "@/lib/ui";
import { titleOf } from "./ChatRow";

const pause = 200; // ms after the last key

/** SearchResults is what the server finds, with the words in their places. */
export function SearchResults({ query }: { query: string }) {
  const [asked, setAsked] = useState(query);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(query), pause);
    return () => clearTimeout(timer);
  }, [query]);
  const found = useInfiniteQuery({
    queryKey: ["search", asked],
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }) => unwrap(await api.GET("/api/search", { params: { query: { q: asked, limit: 30, ...(pageParam ? { after: pageParam } : {}) } }, signal })),
    getNextPageParam: (last) => last.next || undefined,
    placeholderData: keepPreviousData,
  });
  const chats = found.data?.pages.flatMap((p) => p.chats) ?? [];
  if (found.isError) return <Failed error={found.error} what="The search can't be made" onRetry={() => void found.refetch()} />;
  if (found.isPending) return <Skeleton lines={6} />;
  if (chats.length === 0) return <Empty title="Nothing found">{`No chat has “${asked}” in it. Titles, questions and answers are searched.`}</Empty>;
  return (
    <div className="scroll-y h-full">
      <ul aria-label="Found chats">
        {chats.map((c) => (
          <li key={c.chat.id}>
            <button type="button" onClick={() => useUI.getState().openChat(c.chat.id)} className="block w-full border-l-2 border-transparent py-2 pr-2 pl-3 text-left outline-offset-[-2px] hover:bg-raised">
              <span dir="auto" className="block truncate text-[13px]">
                <Marked text={titleOf(c.chat)} at={c.chat.title ? c.title_offsets : undefined} />
              </span>
              {/* A short question is its chat's title, too. */}
              {c.matches.filter((m) => m.excerpt !== titleOf(c.chat)).slice(0, 2).map((m: Schemas["match"], i) => (
                <span key={i} dir="auto" className="line-clamp-2 text-xs text-muted">
                  <Marked text={m.excerpt} at={m.offsets} />
                </span>
              ))}
              <RelativeTime at={c.chat.updated_at} className="block text-xs text-muted" />
            </button>
          </li>
        ))}
      </ul>
      {found.hasNextPage && (
        <div className="p-2 text-center">
          <Button size="small" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            More
          </Button>
        </div>
      )}
    </div>
  );
}

function Marked({ text, at }: { text: string; at?: number[][] }) {
  return marked(text, at).map((piece, i) =>
    piece.hit ? (
      <mark key={i} className="bg-transparent font-semibold text-accent-ink">
        {piece.text}
      </mark>
    ) : (
      piece.text
    ),
  );
}
