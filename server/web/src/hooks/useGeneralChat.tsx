import { createContext, use, useState, type ReactNode } from "react";
import type {
  ActionMetadata,
  ActiveToolProgress,
  Approval,
  Attachment,
  Conversation,
  GeneralChatMessage,
  InteractionType,
  ShownPayload,
  ThoughtStep,
  ToolCall,
} from "@/types/chat";

/** GeneralChat is document 000's state and actions; what fettle adds is marked. */
export interface GeneralChat {
  messages: GeneralChatMessage[];
  context: Record<string, unknown>;
  isLoading: boolean;
  error: string | null;
  streamingText: string;
  statusText: string | null;
  activeToolProgress: ActiveToolProgress | null;

  conversationId: number | null;
  conversations: Conversation[];
  isLoadingConversation: boolean;
  isLoadingConversations: boolean;

  sendMessage(content: string, type?: InteractionType, metadata?: ActionMetadata, extra?: SendOptions): void;
  cancelRequest(): void;
  updateContext(updates: Record<string, unknown>): void;
  reset(): void;

  newConversation(): Promise<number>;
  loadConversation(id: number): Promise<void>;
  deleteConversation(id: number): Promise<void>;
  refreshConversations(): Promise<void>;

  // Added.
  chatId: string | null; // the chat's id; conversationId is its number
  turn: LiveTurn | null; // the answer that is being made
  broken: boolean; // the network is lost, and tried again
  lastError: { message: string; code: string; retryable: boolean; hints: string[] } | null;
  editMessage(messageId: string, content: string): void;
  retryMessage(messageId: string): void;
  switchTo(messageId: string): Promise<void>;
  confirm(approval: Approval, decision: "allow" | "deny", reason?: string): Promise<void>;
}

export interface SendOptions {
  attachments?: File[];
  model?: string;
  agent?: string;
  tools?: string[];
  think?: boolean;
}

/** LiveTurn is what is known of the answer so far. */
export interface LiveTurn {
  turnId: string;
  thoughts: ThoughtStep[];
  reasoning: string;
  tools: ToolCall[]; // by place; those that run have no output yet
  progress: Record<string, ActiveToolProgress>; // by tool_use_id
  approvals: Approval[]; // that wait
  payloads: ShownPayload[];
  footnotes: string[];
  attachments: Attachment[];
  /** the running workflow's last event, where the turn is one */
  workflow: { instance: string; step: string; state: string; progress?: number; data?: unknown } | null;
}

const ChatContext = createContext<GeneralChat | null>(null);

/** useGeneralChat is the chat of this page. */
export function useGeneralChat(): GeneralChat {
  const chat = use(ChatContext);
  if (!chat) throw new Error("useGeneralChat stands outside of its provider");
  return chat;
}

export function ChatProvider({ children }: { children: ReactNode }) {
  const [chat] = useState<GeneralChat | null>(null);
  return <ChatContext value={chat}>{children}</ChatContext>;
}
