import { Download, Pencil, Save } from "lucide-react";
import { useMemo, useState } from "react";
import { Button, IconButton } from "@/components/ui/Button";
import { Choice } from "@/components/ui/Choice";
import { CopyButton } from "@/components/ui/CodeBlock";
import { cn } from "@/lib/cn";
import { download, fileName } from "@/lib/download";
import { dataOf } from "@/lib/workspace/payload";
import { fields, own, pretty, text } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { JsonView } from "./JsonView";
import { LongText, Prose } from "./LongText";
import { SaveAs } from "./SaveAs";
import { useEdit, type EditState } from "./useEdit";
import { configOf, servedFor } from "./types";
import { usePayloadTypes } from "./usePayloadTypes";

type Form = "read" | "source" | "data";
const names: Record<Form, string> = { read: "Read", source: "Source", data: "Data" };

const words: Record<EditState, string> = { none: "", waiting: "Not saved yet", saved: "Edited and saved", failed: "Not saved; the next change tries again" };

/** StandardPayloadView shows what has no view of its own: its text, and its data. */
export default function StandardPayloadView({ payload, payloadId }: { payload: WorkspacePayload; payloadId?: string }) {
  const types = usePayloadTypes();
  const given = dataOf(payload);
  const { edited, write: setEdited, flush, state } = useEdit(payload, payloadId);
  const [editing, setEditing] = useState(false);
  const [saving, setSaving] = useState(false);
  const whole = edited ?? payload.content;
  const data = useMemo(() => (given === undefined && payload.type === "data" ? parsed(whole) : given), [given, payload.type, whole]);
  const forms: Form[] = [...(whole ? [payload.type === "code" || payload.type === "data" ? "source" : "read", "source"] : []), ...(data === undefined ? [] : ["data"])].filter(
    (f, i, all) => all.indexOf(f) === i,
  ) as Form[];
  const [chosen, setChosen] = useState<Form | null>(null);
  const first = payload.type === "data" && forms.includes("data") ? "data" : (forms[0] ?? "read");
  const form = chosen && forms.includes(chosen) ? chosen : first;
  const out = form === "data" ? pretty(data) : whole;
  const name = fileName(payload.title || payload.type, form === "data" ? "json" : endingOf(payload));

  return (
    <div className="flex min-w-0 flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-1">
        {forms.length > 1 && (
          <Choice label="Form" options={forms.map((id) => ({ id, label: names[id] }))} value={form} onChange={setChosen} />
        )}
        <span role="status" className="flex-1 text-xs text-muted">{words[state]}</span>
        {configOf(payload.type, servedFor(payload, types)).editable && form !== "data" && whole !== "" && whole.length < 1_000_000 && (
          <Button size="small" look="quiet" aria-pressed={editing} onClick={() => setEditing(!editing)}>
            <Pencil className="size-3.5" aria-hidden="true" />
            {editing ? "Done" : "Edit"}
          </Button>
        )}
        {out !== "" && (
          <>
            <CopyButton text={() => out} />
            <IconButton label="Download" onClick={() => download(name, out)}>
              <Download />
            </IconButton>
            <IconButton label="Save to the chat's files" onClick={() => setSaving(true)}>
              <Save />
            </IconButton>
          </>
        )}
      </div>
      {editing && form !== "data" ? (
        <textarea
          dir="auto"
          aria-label={`Text of ${payload.title || payload.type}`}
          value={whole}
          onChange={(e) => setEdited(e.target.value)}
          onBlur={flush}
          className={cn("min-h-80 w-full resize-y rounded-md border border-border bg-bg p-3 text-sm leading-relaxed", payload.type === "code" && "font-mono text-[13px]")}
        />
      ) : (
        <Body form={form} text={whole} data={data} code={payload.type === "code"} />
      )}
      {saving && <SaveAs name={name} content={out} onClose={() => setSaving(false)} />}
    </div>
  );
}

function Body({ form, text, data, code }: { form: Form; text: string; data: unknown; code: boolean }) {
  if (form === "data") return <JsonView value={data} />;
  if (text === "") return <p className="text-[13px] text-muted">There is nothing in it.</p>;
  if (form === "read") return <Prose text={text} />;
  return (
    <div className={cn("min-w-0 rounded-md border border-border bg-surface p-3", code && "overflow-x-auto")}>
      <LongText text={text} wrap={!code} />
    </div>
  );
}

const endings: Record<string, string> = { python: "py", javascript: "js", typescript: "ts", markdown: "md", shell: "sh", bash: "sh", rust: "rs" };

function endingOf(payload: WorkspacePayload): string {
  if (payload.type === "data") return "json";
  if (payload.type !== "code") return "md";
  const language = text(fields(dataOf(payload)).language, 20).toLowerCase();
  return own(endings, language) ?? (/^[a-z0-9]{1,6}$/.test(language) ? language : "txt");
}

function parsed(content: string): unknown {
  if (content.length > 20_000_000) return undefined;
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
