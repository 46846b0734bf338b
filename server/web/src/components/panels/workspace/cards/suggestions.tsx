import { Button } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import { fields, list, records, text, texts, words } from "@/lib/workspace/read";
import { Badge, Capped, Chips, Nothing, View, Words, type BadgeTone } from "../parts";

const priorities: Record<string, BadgeTone> = { high: "warn", medium: "plain", low: "plain" };

/** StreamSuggestionsCard is streams that could be added (stream_suggestions). */
export function StreamSuggestionsCard({ data }: { data: unknown }) {
  const d = fields(data);
  const suggestions = records(d.suggestions);
  return (
    <View>
      {suggestions.length === 0 && <Nothing>Nothing is suggested.</Nothing>}
      <Capped
        items={suggestions}
        className="gap-3"
        render={(s) => {
          const priority = text(s.priority, 60);
          return (
            <article className="rounded-lg border border-border p-3">
              <div className="flex items-start gap-2">
                <h4 dir="auto" className="min-w-0 flex-1 font-medium break-words">{text(s.suggested_name ?? s.name, 300) || "Without a name"}</h4>
                {priority && <Badge tone={Object.hasOwn(priorities, priority) ? priorities[priority] : "plain"}>{words(priority)}</Badge>}
              </div>
              <Words className="mt-1">{text(s.rationale)}</Words>
              <div className="mt-2">
                <Chips values={texts(s.key_topics)} label="Topics" />
              </div>
            </article>
          );
        }}
      />
    </View>
  );
}

/** SuggestedValuesCard is answers to choose from. */
export function SuggestedValuesCard({ data }: { data: unknown }) {
  const chat = useChat((s) => ({ send: s.send, busy: s.starting || s.turn !== null }));
  const values = records(Array.isArray(data) ? data : list(fields(data).suggested_values));
  return (
    <View>
      {values.length === 0 && <Nothing>Nothing is suggested.</Nothing>}
      <div className="flex flex-wrap gap-2">
        {values.slice(0, 50).map((v, i) => {
          const value = text(v.value);
          return (
            <Button key={i} disabled={chat.busy || value === ""} onClick={() => void chat.send(value, "value_selected")} className="h-auto min-h-8 max-w-full py-1 text-left whitespace-normal">
              <span dir="auto">{text(v.label, 200) || value}</span>
            </Button>
          );
        })}
      </div>
    </View>
  );
}

/** SuggestedActionsCard is what could be done next. */
export function SuggestedActionsCard({ data }: { data: unknown }) {
  const chat = useChat((s) => ({ send: s.send, busy: s.starting || s.turn !== null }));
  const actions = records(Array.isArray(data) ? data : list(fields(data).suggested_actions));
  return (
    <View>
      {actions.length === 0 && <Nothing>Nothing is suggested.</Nothing>}
      <div className="flex flex-wrap gap-2">
        {actions.slice(0, 50).map((a, i) => {
          const action = text(a.action ?? a.type, 200);
          const label = text(a.label, 200) || words(action);
          return (
            <Button
              key={i}
              disabled={chat.busy || action === ""}
              onClick={() => void chat.send(label, "action_executed", { action_identifier: action, action_data: a.data ?? a.metadata })}
              className="h-auto min-h-8 max-w-full py-1 text-left whitespace-normal"
            >
              <span dir="auto">{label}</span>
            </Button>
          );
        })}
      </div>
    </View>
  );
}
