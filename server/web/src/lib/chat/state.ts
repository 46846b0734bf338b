import type { Chat, Schemas } from "@/lib/api/client";
import type { Params } from "@/lib/chat/choices";
import type { LiveTurn } from "@/lib/turn";
import type { ActionMetadata, Approval, ChatFault, GeneralChatMessage, InteractionType } from "@/types/chat";

export interface SendOptions {
  attachments?: File[];
  /** texts for the workspace, which a suggestion brings along */
  uploads?: Schemas["SuggestedFile"][];
  model?: string;
  agent?: string;
  tools?: string[];
  params?: Params;
}

/** ChatState is the chat that is shown, and the answer that is being made in it. */
export interface ChatState {
  chat: Chat | null;
  chatId: string | null;
  messages: GeneralChatMessage[];
  /** the message before which older ones are; null where there are none */
  before: string | null;
  /** the end of the way that the messages are of; null is the chat's active branch */
  leaf: string | null;
  loadingOlder: boolean;
  loading: boolean; // the chat's messages
  loadFault: unknown; // why they can't be had
  starting: boolean; // a turn was asked for
  stopping: boolean; // it was asked to stop
  turn: LiveTurn | null;
  broken: boolean;
  /** what an approval needs can't be had, and is asked for again */
  unanswerable: boolean;
  fault: ChatFault | null;
  /** the token is missing or wrong */
  locked: boolean;
  context: Record<string, unknown>;
  /** counts the chats that were opened; one that begins with its first question stays the same */
  opened: number;
}

export interface ChatActions {
  open(chat: string | null): Promise<void>;
  /** reopen has the chat anew, with nothing of what is shown of it */
  reopen(): Promise<void>;
  reload(): Promise<void>;
  loadOlder(): Promise<void>;
  send(content: string, type?: InteractionType, metadata?: ActionMetadata, extra?: SendOptions): Promise<boolean>;
  edit(messageId: string, content: string): Promise<boolean>;
  retry(messageId: string): Promise<boolean>;
  switchTo(messageId: string, overwrite?: boolean): Promise<void>;
  confirm(approval: Approval, decision: Decision, reason?: string, content?: Record<string, unknown>, only?: string[]): Promise<void>;
  cancel(): void;
  updateContext(updates: Record<string, unknown>): void;
  setChat(chat: Chat): void;
  dismissFault(): void;
  lock(locked: boolean): void;
  close(): void;
}

export type Decision = "allow" | "deny" | "allow_chat" | "allow_always";

export const empty: ChatState = {
  chat: null, chatId: null, messages: [], before: null, leaf: null, loadingOlder: false, loading: false, loadFault: null, starting: false, stopping: false,
  turn: null, broken: false, unanswerable: false, fault: null, locked: false, context: {}, opened: 0,
};
