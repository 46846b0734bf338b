import { ExternalLink, MessageCircleQuestion } from "lucide-react";
import { useId, useState } from "react";
import { Button, useSettled } from "@/components/ui/Button";
import { ApiFault, explain } from "@/lib/api/fault";
import type { Decision } from "@/lib/chat/state";
import { contentOf, problemsOf, problemsOfDetail, startValues } from "@/lib/form";
import { visible } from "@/lib/visible";
import { useChat } from "@/hooks/useGeneralChat";
import type { Approval, ApprovalForm } from "@/types/chat";
import { AllowMore } from "./decision";
import { Field } from "./FormFields";
import { TimeLeft } from "./TimeLeft";

/** QuestionCard is what an MCP server asks while one of its calls runs; the words are the server's. */
export function QuestionCard({ approval, form }: { approval: Approval; form: ApprovalForm }) {
  const confirm = useChat((s) => s.confirm);
  const fields = form.kind === "form" ? (form.fields ?? []) : [];
  const [values, setValues] = useState(() => startValues(fields));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const ready = useSettled() && !busy && Boolean(approval.nonce);
  const id = useId();

  async function decide(decision: Decision) {
    const wrong = decision === "deny" ? {} : problemsOf(fields, values);
    setProblems(wrong);
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    setProblem("");
    try {
      await confirm(approval, decision, undefined, form.kind === "form" && decision !== "deny" ? contentOf(fields, values) : undefined);
    } catch (error) {
      setProblems(error instanceof ApiFault ? problemsOfDetail(error.detail) : {});
      setProblem(explain(error).message);
      setBusy(false);
    }
  }

  return (
    <section aria-labelledby={`${id}-title`} className="m-2 rounded-lg border border-accent bg-surface text-[13px]">
      <div className="flex items-center gap-2 px-3 py-2">
        <MessageCircleQuestion className="size-4 shrink-0 text-accent-ink" aria-hidden="true" />
        <p id={`${id}-title`} role="alert" className="min-w-0 flex-1 font-medium">
          The MCP server {form.server} {form.kind === "sampling" ? "wants to ask the model" : "asks you"}
        </p>
        {approval.expires_at && <TimeLeft until={approval.expires_at} />}
      </div>
      <form
        noValidate
        className="flex flex-col gap-3 border-t border-border px-3 py-2"
        onSubmit={(e) => {
          e.preventDefault();
          if (ready) void decide("allow");
        }}
      >
        {form.message && <p dir="auto" className="break-words whitespace-pre-wrap">{visible(form.message)}</p>}
        {fields.map((field) => (
          <Field key={field.name} field={field} value={values[field.name]} problem={problems[field.name]} onChange={(value) => setValues((v) => ({ ...v, [field.name]: value }))} />
        ))}
        {form.kind === "url" && form.url && <Address url={form.url} />}
        {form.kind === "sampling" && <Sampling form={form} />}
        {problem && <p role="alert" className="text-bad">{problem}</p>}
        <div className="flex flex-wrap justify-end gap-2">
          <Button disabled={!ready} onClick={() => void decide("deny")}>
            Decline
          </Button>
          {form.kind === "sampling" && approval.rule && <AllowMore disabled={!ready} onDecide={(decision) => void decide(decision)} />}
          {/* Enter in a field sends what was filled in; nothing is focused here by itself. */}
          <Button look="accent" disabled={!ready} type={fields.length > 0 ? "submit" : "button"} onClick={fields.length > 0 ? undefined : () => void decide("allow")}>
            {{ form: fields.length > 0 ? "Send" : "Yes", url: "I have opened it", sampling: "Allow once" }[form.kind]}
          </Button>
        </div>
      </form>
    </section>
  );
}

/** hostOf is where an address leads; "" where a browser shouldn't follow it. */
function hostOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.host : "";
}

function Address({ url }: { url: string }) {
  const host = hostOf(url);
  return (
    <div className="flex flex-col items-start gap-2">
      <p className="font-mono text-xs break-all text-muted">{visible(url)}</p>
      {host && (
        <a href={url} target="_blank" rel="noopener noreferrer" className="inline-flex items-center gap-1 text-accent-ink underline">
          Open {host} <ExternalLink className="size-3.5" aria-hidden="true" />
        </a>
      )}
    </div>
  );
}

function Sampling({ form }: { form: ApprovalForm }) {
  const s = form.sampling ?? {};
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">{[s.model, s.max_tokens ? `at most ${s.max_tokens} tokens` : ""].filter(Boolean).join(" · ")}</p>
      <pre className="max-h-60 overflow-auto rounded-md border border-border p-2 font-mono text-xs break-words whitespace-pre-wrap">
        {visible([s.system ? `system: ${s.system}` : "", ...(s.messages ?? []).map((m) => `${m.role}: ${m.text}`)].filter(Boolean).join("\n\n"))}
      </pre>
    </div>
  );
}
