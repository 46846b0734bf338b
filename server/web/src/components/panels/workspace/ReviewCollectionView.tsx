import { useDeferredValue, useMemo, useState } from "react";
import { dataOf } from "@/lib/workspace/payload";
import { fields, number, records, text } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { Capped, Nothing, Section, View, Words } from "./parts";
import { Average, Business, Distribution, Review } from "./reviews";

/** ReviewCollectionView is the reviews themselves, to be read by stars and words. */
export default function ReviewCollectionView({ payload }: { payload: WorkspacePayload }) {
  const data = fields(dataOf(payload));
  const reviews = useMemo(() => records(data.reviews), [data.reviews]);
  const [stars, setStars] = useState<number | null>(null);
  const [filter, setFilter] = useState("");
  const wanted = useDeferredValue(filter).trim().toLocaleLowerCase();
  const shown = useMemo(
    () =>
      reviews.filter((r) => (stars === null || number(r.rating ?? r.stars) === stars) && (wanted === "" || `${text(r.text ?? r.content, 20_000)}\n${text(r.author)}`.toLocaleLowerCase().includes(wanted))),
    [reviews, stars, wanted],
  );
  return (
    <View>
      <Business business={data.business} />
      {payload.content && <Words className="text-muted">{payload.content.slice(0, 4_000)}</Words>}
      <div className="flex flex-col gap-2">
        <Average average={data.average} total={data.total} />
        <Distribution distribution={data.distribution} picked={stars} onPick={setStars} />
      </div>
      <Section title="Reviews" aside={shown.length === reviews.length ? `${reviews.length}` : `${shown.length} of ${reviews.length}`}>
        {reviews.length > 0 && (
          <input
            type="search"
            value={filter}
            onChange={(e) => setFilter(e.target.value)}
            placeholder="Find words"
            aria-label="Find words in the reviews"
            className="mb-3 h-8 w-full rounded-md border border-border bg-bg px-3 text-[13px]"
          />
        )}
        {shown.length === 0 ? <Nothing>{reviews.length === 0 ? "There are no reviews in it." : "No review is like that."}</Nothing> : <Capped key={`${stars} ${wanted}`} items={shown} className="gap-3" render={(r) => <Review review={r} />} />}
      </Section>
    </View>
  );
}
