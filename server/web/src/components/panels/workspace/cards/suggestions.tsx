import { Button } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import type { ChatActions } from "@/lib/chat/state";
import { fields, own, records, text, texts, words, type Fields } from "@/lib/workspace/read";
import { Badge, Capped, Card, Chips, Nothing, View, Words, type BadgeTone } from "../parts";

const priorities: Record<string, BadgeTone> = { high: "warn", medium: "plain", low: "plain" };

/** StreamSuggestionsCard is streams that could be added (stream_suggestions). */
export function StreamSuggestionsCard({ data }: { data: unknown }) {
  const d = fields(data);
  const suggestions = records(d.suggestions ?? data);
  return (
    <View>
      {suggestions.length === 0 && <Nothing>Nothing is suggested.</Nothing>}
      <Capped
        items={suggestions}
        className="gap-3"
        render={(s) => {
          const priority = text(s.priority, 60);
          return (
            <Card title={text(s.suggested_name ?? s.name, 300) || "Without a name"} badge={priority && <Badge tone={own(priorities, priority)}>{words(priority)}</Badge>}>
              <Words className="mt-1">{text(s.rationale)}</Words>
              <div className="mt-2">
                <Chips values={texts(s.key_topics)} label="Topics" />
              </div>
            </Card>
          );
        }}
      />
    </View>
  );
}

/** SuggestedValuesCard is answers to choose from. */
export function SuggestedValuesCard({ data }: { data: unknown }) {
  return (
    <Choices
      data={data}
      name="suggested_values"
      read={(v) => {
        const value = text(v.value);
        return { label: text(v.label, 200) || value, enabled: value !== "", say: [value, "value_selected"] };
      }}
    />
  );
}

/** SuggestedActionsCard is what could be done next. */
export function SuggestedActionsCard({ data }: { data: unknown }) {
  return (
    <Choices
      data={data}
      name="suggested_actions"
      read={(a) => {
        const action = text(a.action ?? a.type, 200);
        const label = text(a.label, 200) || words(action);
        return { label, enabled: action !== "", say: [label, "action_executed", { action_identifier: action, action_data: a.data ?? a.metadata }] };
      }}
    />
  );
}

interface Choice {
  label: string;
  enabled: boolean;
  say: Parameters<ChatActions["send"]>;
}

/** Choices are buttons that each say something; they come as a list, or as an object that has one. */
function Choices({ data, name, read }: { data: unknown; name: string; read(choice: Fields): Choice }) {
  const chat = useChat((s) => ({ send: s.send, busy: s.starting || s.turn !== null }));
  const all = records(Array.isArray(data) ? data : fields(data)[name]);
  return (
    <View>
      {all.length === 0 && <Nothing>Nothing is suggested.</Nothing>}
      <div className="flex flex-wrap gap-2">
        {all.slice(0, 50).map(read).map(({ label, enabled, say }, i) => (
          <Button key={i} disabled={chat.busy || !enabled} onClick={() => void chat.send(...say)} className="h-auto min-h-8 max-w-full py-1 text-left whitespace-normal">
            <span dir="auto">{label}</span>
          </Button>
        ))}
      </div>
    </View>
  );
}
