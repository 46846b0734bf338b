// hooks/useGeneralChat.ts of the document: its state and its actions, without React.
import { conversationApi, generalChatApi } from "./api.js";

export function useGeneralChat(render) {
  const state = {
    messages: [], context: {}, isLoading: false, error: null, streamingText: "", statusText: null, activeToolProgress: null,
    conversationId: null, conversations: [],
  };
  let controller = null;
  const set = (changes) => render(Object.assign(state, changes));
  const add = (message) => set({ messages: [...state.messages, { timestamp: new Date().toISOString(), ...message }] });

  function handle(event) {
    switch (event.type) {
      case "status":
        return set({ statusText: event.message });
      case "text_delta":
        return set({ statusText: null, streamingText: state.streamingText + event.text });
      case "tool_start":
        return set({ statusText: `Running ${event.tool}...`, activeToolProgress: { toolName: event.tool, updates: [] } });
      case "tool_progress":
        return set({ activeToolProgress: { ...state.activeToolProgress, updates: [...state.activeToolProgress.updates, event] } });
      case "tool_complete":
        return set({ activeToolProgress: null, statusText: null });
      case "complete": {
        const { message, conversation_id, workspace_payload, custom_payload, suggested_values, suggested_actions } = event.payload;
        set({ streamingText: "", conversationId: conversation_id });
        return add({ role: "assistant", content: message, workspace_payload, custom_payload, suggested_values, suggested_actions });
      }
      case "error":
        return set({ error: event.message });
      case "cancelled":
        return set({ error: "The request was cancelled." });
    }
  }

  const actions = {
    async sendMessage(content, type = "text_input", metadata = undefined) {
      add({ role: "user", content });
      set({ isLoading: true, error: null, streamingText: "" });
      controller = new AbortController();
      const request = { message: content, conversation_id: state.conversationId, context: state.context, interaction_type: type, action_metadata: metadata };
      try {
        for await (const event of generalChatApi.streamMessage(request, controller.signal)) handle(event);
      } catch (error) {
        set({ error: error.name === "AbortError" ? "The request was cancelled." : error.message });
      }
      set({ isLoading: false, statusText: null, activeToolProgress: null });
      await actions.refreshConversations();
    },
    cancelRequest: () => controller?.abort(),
    updateContext: (updates) => set({ context: { ...state.context, ...updates } }),
    reset: () => set({ messages: [], error: null, streamingText: "", conversationId: null }),
    async newConversation() {
      actions.reset();
      set({ conversationId: await conversationApi.create() });
      await actions.refreshConversations();
      return state.conversationId;
    },
    async loadConversation(id) {
      set({ conversationId: id, messages: await conversationApi.messages(id), error: null, streamingText: "" });
    },
    async deleteConversation(id) {
      await conversationApi.remove(id);
      if (id === state.conversationId) actions.reset();
      await actions.refreshConversations();
    },
    refreshConversations: async () => set({ conversations: await conversationApi.list() }),
  };
  return { state, actions };
}
