import { CircleCheck, CircleHelp, CircleX } from "lucide-react";
import { Button } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import { dataOf } from "@/lib/workspace/payload";
import { fields, number, own, records, share, text, words, type Fields } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { Badge, Capped, Facts, Meter, Outside, Section, View, Words, type BadgeTone } from "./parts";

const states: Record<string, { tone: BadgeTone; says: string; icon: typeof CircleHelp }> = {
  verified: { tone: "good", says: "Verified", icon: CircleCheck },
  ambiguous: { tone: "warn", says: "Several may be meant", icon: CircleHelp },
  not_found: { tone: "bad", says: "Not found", icon: CircleX },
};

/** EntityVerificationView is who may be meant, and how sure that is. */
export default function EntityVerificationView({ payload }: { payload: WorkspacePayload }) {
  const chat = useChat((s) => ({ send: s.send, busy: s.starting || s.turn !== null }));
  const data = fields(dataOf(payload));
  const query = fields(data.query);
  const status = text(data.status, 60);
  const state = own(states, status);
  const Icon = state?.icon ?? CircleHelp;
  const entity = fields(data.entity);
  const found = records(data.candidates ?? data.matches);
  const candidates = found.length > 0 ? found : Object.keys(entity).length > 0 ? [entity] : [];
  const asked = typeof data.query === "string" ? text(data.query) : [text(query.business_name ?? query.name), text(query.location)].filter(Boolean).join(", ");
  return (
    <View>
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={state?.tone}>
          <Icon aria-hidden="true" />
          {state?.says ?? (words(status) || "Not said")}
        </Badge>
        {asked && <span dir="auto" className="break-words text-muted">asked for “{asked}”</span>}
      </div>
      {payload.content && <Words>{payload.content.slice(0, 4_000)}</Words>}
      {candidates.length > 0 && (
        <Section title={candidates.length === 1 ? "Candidate" : "Candidates"} aside={candidates.length > 1 ? `${candidates.length}` : undefined}>
          <Capped
            items={candidates}
            className="gap-3"
            render={(c) => (
              <Candidate
                candidate={c}
                onChoose={status === "ambiguous" && !chat.busy ? () => void chat.send(`I mean ${nameOf(c)}${text(c.location) && `, ${text(c.location)}`}.`, "value_selected") : undefined}
              />
            )}
          />
        </Section>
      )}
    </View>
  );
}

function nameOf(candidate: Fields): string {
  return text(candidate.name ?? candidate.business_name ?? candidate.title, 300) || "Without a name";
}

function Candidate({ candidate, onChoose }: { candidate: Fields; onChoose?: () => void }) {
  const confidence = share(candidate.confidence ?? candidate.score);
  return (
    <article className="rounded-lg border border-border p-3">
      <div className="flex items-start gap-2">
        <h4 dir="auto" className="min-w-0 flex-1 font-medium break-words">{nameOf(candidate)}</h4>
        {onChoose && (
          <Button size="small" onClick={onChoose} aria-label={`I mean ${nameOf(candidate)}`}>
            I mean this one
          </Button>
        )}
      </div>
      {confidence !== undefined && (
        <div className="my-2 flex items-center gap-2 text-[13px]">
          <Meter value={confidence} className="w-32" />
          <span className="text-muted">{Math.round(confidence * 100)} % sure</span>
        </div>
      )}
      <Facts
        facts={[
          { name: "Where", value: [text(candidate.address, 300), text(candidate.location, 300)].filter(Boolean).join(", ") },
          { name: "Phone", value: text(candidate.phone, 60) },
          { name: "Kind", value: text(candidate.category, 100) },
          { name: "Reviews", value: number(candidate.reviews)?.toLocaleString() ?? "" },
          { name: "Page", value: text(candidate.url ?? candidate.website) && <Outside href={candidate.url ?? candidate.website}>{text(candidate.url ?? candidate.website, 500)}</Outside> },
        ]}
      />
    </article>
  );
}
