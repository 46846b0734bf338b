import { TriangleAlert } from "lucide-react";
import { memo, useMemo } from "react";
import { Button } from "@/components/ui/Button";
import { Words } from "@/components/ui/Words";
import { useChat } from "@/hooks/useGeneralChat";
import { splitMarkers, type Segment } from "@/lib/markers";
import type { LiveTurn } from "@/lib/turn";
import { callPayloadId } from "@/lib/workspace/follow";
import { shownAsWorkspace } from "@/lib/workspace/payload";
import type { GeneralChatMessage, ShownPayload, ToolCall } from "@/types/chat";
import { AcceptPlan } from "./AcceptPlan";
import { Approvals, Question } from "./ApprovalCard";
import { Blocks } from "./Blocks";
import { MessageActions } from "./MessageActions";
import { PayloadCard } from "./PayloadCard";
import { Suggestions } from "./Suggestions";
import { ThoughtProcess } from "./ThoughtProcess";
import { ToolCard } from "./ToolCard";

interface Props {
  message: GeneralChatMessage | null; // null while it is made
  turn: LiveTurn | null;
  last: boolean;
}

/**
 * AgentMessage is an answer, while it is made and after: the same component, so
 * that nothing is drawn anew at its end.
 */
export const AgentMessage = memo(function AgentMessage({ message, turn, last }: Props) {
  const content = message?.content;
  const live = turn?.segments;
  const segments = useMemo(() => (content === undefined ? (live ?? []) : splitMarkers(content)), [content, live]);
  const tools = message?.tool_history ?? turn?.tools ?? [];
  const thoughts = message?.thoughts ?? turn?.thoughts ?? [];
  const answering = segments.some((s) => s.kind === "text" && s.text.trim() !== "");
  return (
    <article aria-label="Answer" aria-busy={turn !== null} className="group/message flex min-w-0 flex-col gap-3 text-base">
      <ThoughtProcess thoughts={thoughts} running={turn !== null && !answering} />
      <Answer segments={segments} tools={tools} turn={turn} />
      {turn && <Live turn={turn} answering={answering} />}
      <Payloads payloads={message?.payloads ?? turn?.payloads ?? []} tools={tools} messageId={message?.id} />
      <Footnotes notes={message?.footnotes ?? turn?.footnotes ?? []} />
      {/* It is there from the first: an answer that becomes the last child for a moment has its lists styled anew. */}
      <div className="flex flex-col gap-3 empty:hidden">
        {message && <Ending message={message} last={last} />}
        {message && last && <AcceptPlan />}
        {message && last && <Suggestions message={message} />}
        {message && <MessageActions message={message} />}
      </div>
    </article>
  );
});

function Answer({ segments, tools, turn }: { segments: Segment[]; tools: ToolCall[]; turn: LiveTurn | null }) {
  const chatId = useChat((s) => s.chatId);
  const placed = new Set(segments.flatMap((s) => (s.kind === "tool" ? [s.index] : [])));
  const loose = tools.map((_, i) => i).filter((i) => !placed.has(i)); // an answer without markers
  const card = (index: number, key: string) => {
    const call = tools[index];
    const question = turn?.approvals.find((a) => a.form && a.form.call === call?.tool_use_id);
    return (
      <ToolCard key={key} call={call} chatId={chatId} progress={turn?.progress[call?.tool_use_id ?? ""]}>
        {question?.form && <Question key={question.tool_use_id} approval={question} form={question.form} />}
      </ToolCard>
    );
  };
  const end = segments.length - 1;
  return (
    <div className="min-w-0">
      {loose.map((i) => card(i, `loose-${i}`))}
      {segments.map((s, i) =>
        s.kind === "tool" ? card(s.index, `tool-${s.index}`) : s.text.trim() !== "" && <Blocks key={`text-${i}`} text={s.text} cursor={turn !== null && turn.approvals.length === 0 && i === end} />,
      )}
    </div>
  );
}

/** Live is what stands below an answer that is being made. */
function Live({ turn, answering }: { turn: LiveTurn; answering: boolean }) {
  const { broken, stopping, unanswerable } = useChat((s) => ({ broken: s.broken, stopping: s.stopping, unanswerable: s.unanswerable }));
  const calls = new Set(turn.tools.map((t) => t.tool_use_id));
  const waiting = turn.approvals.filter((a) => !a.form?.call || !calls.has(a.form.call));
  const running = turn.tools.some((t) => t.status === "running");
  const status = broken
    ? "The connection is lost, and is tried again. The answer goes on in fettle."
    : stopping
      ? "Stopping. Stop again to wait for no tool."
      : turn.approvals.length > 0
        ? unanswerable
          ? "The approval can't be answered yet: fettle is asked for it again."
          : ""
        : (turn.status ?? (answering || running ? "" : "Thinking…"));
  return (
    <>
      <Approvals approvals={waiting} />
      {turn.workflow && <p className="text-[13px] text-muted">{`${turn.workflow.step}: ${turn.workflow.state}`}</p>}
      <p role="status" className="min-h-5 text-[13px] text-muted">{status}</p>
    </>
  );
}

function Payloads({ payloads, tools, messageId }: { payloads: ShownPayload[]; tools: ToolCall[]; messageId?: string }) {
  const chatId = useChat((s) => s.chatId);
  const fromTools = tools.flatMap((t) => (t?.workspace_payload ? [{ payload: t.workspace_payload, id: callPayloadId(messageId, t) }] : []));
  if (payloads.length + fromTools.length === 0) return null;
  return (
    <ul aria-label="What was made" className="flex flex-wrap gap-2">
      {payloads.map((p) => (
        <PayloadCard key={p.payload_id} payload={shownAsWorkspace(p)} payloadId={p.payload_id} chatId={chatId} />
      ))}
      {fromTools.map(({ payload, id }, i) => (
        <PayloadCard key={i} payload={payload} payloadId={id} chatId={chatId} />
      ))}
    </ul>
  );
}

function Footnotes({ notes }: { notes: string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul aria-label="Notes" className="border-t border-border pt-2 text-[13px] text-muted">
      {notes.map((note, i) => (
        <li key={i} dir="auto" className="break-words">
          {note}
        </li>
      ))}
    </ul>
  );
}

/** Ending says how an answer ended that isn't whole, and what can be done. */
function Ending({ message, last }: { message: GeneralChatMessage; last: boolean }) {
  const retry = useChat((s) => s.retry);
  if (message.status === "complete") return null;
  const what = { interrupted: "The answer was interrupted.", cancelled: "You stopped the answer.", error: message.error ?? "The answer can't be made." }[message.status];
  const bad = message.status === "error";
  return (
    <div role={bad && last ? "alert" : undefined} className={bad ? "rounded-lg border border-bad p-3 text-[13px]" : "flex flex-wrap items-center gap-3 text-[13px] text-muted"}>
      <p className="flex items-start gap-2 break-words">
        {bad && <TriangleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden="true" />}
        {what}
      </p>
      {message.fault?.hints.map((hint) => (
        <p key={hint} className="mt-1 break-words whitespace-pre-wrap text-muted">
          <Words>{hint}</Words>
        </p>
      ))}
      {last && (
        <Button size="small" className={bad ? "mt-2" : ""} onClick={() => void retry(message.id)}>
          Try again
        </Button>
      )}
    </div>
  );
}
