import { lazy, Suspense } from "react";
import { ChatBody } from "@/components/chat/ChatBody";
import { ChatInput } from "@/components/chat/ChatInput";
import { ChatTitle } from "@/components/chat/ChatTitle";
import { useCutCalls } from "@/components/chat/useCutCalls";
import { useChat } from "@/hooks/useGeneralChat";
import { ApiFault } from "@/lib/api/fault";
import { token } from "@/lib/api/token";
import { useConversations } from "@/lib/chat/conversations";

// Who has the token never sees it.
const TokenScreen = lazy(() => import("@/components/chat/TokenScreen").then((m) => ({ default: m.TokenScreen })));

// Most chats have no call that was cut off.
const CutCalls = lazy(() => import("@/components/chat/CutCalls").then((m) => ({ default: m.CutCalls })));

/** ChatPanel is the chat: its messages, and the field below them. */
export default function ChatPanel() {
  const { locked, chatId } = useChat((s) => ({ locked: s.locked, chatId: s.messages.length > 0 ? s.chatId : null }));
  const { error } = useConversations();
  const cut = useCutCalls(chatId);
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
      <ChatBody />
      {chatId && cut.length > 0 && (
        <Suspense>
          <CutCalls key={chatId} chatId={chatId} calls={cut} />
        </Suspense>
      )}
      <ChatInput />
    </div>
  );
}
