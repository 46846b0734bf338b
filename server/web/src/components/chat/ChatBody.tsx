import { lazy, Suspense } from "react";
import { Failed, Skeleton } from "@/components/ui/States";
import { useChat } from "@/hooks/useGeneralChat";
import { FaultRow } from "./FaultRow";
import { FirstVisit } from "./FirstVisit";

// A first look shows no messages.
const MessageList = lazy(() => import("./MessageList").then((m) => ({ default: m.MessageList })));

/** ChatBody is what stands above the field: the messages, or why there are none. */
export function ChatBody() {
  const { empty, loading, loadFault, fault, reopen } = useChat((s) => ({
    empty: s.messages.length === 0 && !s.turn, loading: s.loading, loadFault: s.loadFault, fault: s.fault, reopen: s.reopen,
  }));
  const problem = loadFault !== null && (
    <div className="mx-auto w-full max-w-[800px]">
      <Failed
        error={loadFault}
        what={empty ? "This chat can't be shown" : "This chat can't be loaded: what is below is what was seen of it last"}
        onRetry={() => void reopen()}
      />
    </div>
  );
  if (problem && empty) return <div className="min-h-0 flex-1">{problem}</div>;
  if (!empty) {
    return (
      <>
        {problem}
        <Suspense fallback={<Coming />}>
          <MessageList />
        </Suspense>
      </>
    );
  }
  if (loading) return <Coming />;
  return (
    <>
      <FirstVisit />
      {fault && (
        <div className="mx-auto w-full max-w-[800px] px-4 pb-2">
          <FaultRow fault={fault} />
        </div>
      )}
    </>
  );
}

/** Coming has the shape of a question and its answer. */
function Coming() {
  return (
    <div className="min-h-0 flex-1">
      <div className="mx-auto max-w-[800px] pt-6">
        <Skeleton lines={2} className="ml-auto w-1/2" />
        <Skeleton lines={6} />
      </div>
    </div>
  );
}
