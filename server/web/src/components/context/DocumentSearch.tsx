import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { SearchField } from "@/components/ui/SearchField";
import { Failed, Skeleton } from "@/components/ui/States";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { pieces, rankedBy } from "./passages";

type Passage = Schemas["passage"];

/**
 * DocumentSearch finds passages of the documents. It searches when Enter is pressed, and not while the query is typed: a
 * search by meaning sends the query, and documents that are new, to the provider of the embedding model.
 */
export function DocumentSearch() {
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const found = useQuery({
    queryKey: ["document-search", query],
    queryFn: async ({ signal }) => unwrap(await api.GET("/api/search/documents", { params: { query: { q: query } }, signal })),
    enabled: query !== "",
    staleTime: Infinity, // the same query is sent again only when Enter is pressed again
    retry: false,
  });

  return (
    <search className="block px-3 pb-2">
      <form
        className="flex"
        onSubmit={(e) => {
          e.preventDefault();
          if (text.trim() === query) void found.refetch();
          setQuery(text.trim());
        }}
      >
        <SearchField
          label="Search in documents"
          placeholder="Search in documents, then Enter"
          value={text}
          onChange={(to) => {
            setText(to);
            if (!to) setQuery("");
          }}
        />
      </form>
      {query !== "" && (
        <div aria-live="polite">
          {found.isFetching && <Skeleton lines={4} />}
          {!found.isFetching && found.isError && <Failed error={found.error} what="The documents can't be searched" onRetry={() => void found.refetch()} />}
          {!found.isFetching && found.data && (
            <>
              <p className="my-2 text-[12px] text-muted">{rankedBy(found.data)}</p>
              <ol>
                {found.data.passages.map((passage) => (
                  <Found key={passage.document.id + String(passage.start)} passage={passage} />
                ))}
              </ol>
            </>
          )}
        </div>
      )}
    </search>
  );
}

function Found({ passage }: { passage: Passage }) {
  return (
    <li className="mb-2 rounded-md border border-border p-2 text-[13px]">
      <p className="truncate font-medium" title={passage.document.name}>
        {passage.document.name}
        <span className="font-normal text-muted"> · line {passage.line}</span>
      </p>
      <p className="mt-1 line-clamp-4 break-words whitespace-pre-line text-muted">
        {pieces(passage.text, passage.offsets).map((piece, i) => (piece.found ? <mark key={i}>{piece.text}</mark> : piece.text))}
      </p>
    </li>
  );
}
