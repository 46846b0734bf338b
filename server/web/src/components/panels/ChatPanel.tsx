import { lazy, Suspense } from "react";
import { ChatInput } from "@/components/chat/ChatInput";
import { ChatTitle } from "@/components/chat/ChatTitle";
import { FaultRow } from "@/components/chat/FaultRow";
import { FirstVisit } from "@/components/chat/FirstVisit";
import { Failed, Skeleton } from "@/components/ui/States";
import { useChat } from "@/hooks/useGeneralChat";
import { ApiFault } from "@/lib/api/fault";
import { token } from "@/lib/api/token";
import { useConversations } from "@/lib/chat/conversations";
import { useUI } from "@/lib/ui";

// A first look shows no messages.
const MessageList = lazy(() => import("@/components/chat/MessageList").then((m) => ({ default: m.MessageList })));
const TokenScreen = lazy(() => import("@/components/chat/TokenScreen").then((m) => ({ default: m.TokenScreen })));

/** ChatPanel is the chat: its messages, and the field below them. */
export default function ChatPanel() {
  const locked = useChat((s) => s.locked);
  const { error } = useConversations();
  if (locked || !token() || (error instanceof ApiFault && error.status === 401)) {
    return (
      <Suspense>
        <TokenScreen />
      </Suspense>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <ChatTitle />
      <Body />
      <ChatInput />
    </div>
  );
}

function Body() {
  const { empty, loading, loadFault, fault, open } = useChat((s) => ({
    empty: s.messages.length === 0 && !s.turn, loading: s.loading, loadFault: s.loadFault, fault: s.fault, open: s.open,
  }));
  const problem = loadFault !== null && (
    <div className="mx-auto w-full max-w-[800px]">
      <Failed
        error={loadFault}
        what={empty ? "This chat can't be shown" : "This chat can't be loaded: what is below is what was seen of it last"}
        onRetry={() => void open(null).then(() => open(useUI.getState().chat))}
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
