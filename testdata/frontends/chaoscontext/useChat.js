// lib/storage.ts and hooks/useChat.ts of the document, without React.
const key = "chaoscontext_sessions";
const server = new URLSearchParams(location.hash.slice(1)).get("server") ?? "http://localhost:8000";

export const saveSessions = (sessions) => localStorage.setItem(key, JSON.stringify(sessions));

export function loadSessions() {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

/** frames yields the frames of section 4.7: "event: TYPE", "data: JSON", an empty line. */
async function* frames(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const event = part.match(/^event: (.*)$/m);
      const data = part.match(/^data: (.*)$/m);
      if (event && data) yield { event: event[1], data: JSON.parse(data[1]) };
    }
  }
}

export function useChat(render) {
  const state = { sessions: loadSessions(), active: null, error: "" };
  const update = (changes) => render(Object.assign(state, changes));

  function dispatch(message, { event, data }) {
    switch (event) {
      case "agent_start":
      case "tool_call":
      case "tool_result":
      case "handoff":
        return message.thoughts.push({ type: event, ...data });
      case "token":
        return (message.content += data.text);
      case "done":
        message.isStreaming = false;
        return saveSessions(state.sessions);
      case "error":
        message.isStreaming = false;
        return (state.error = data.message);
    }
  }

  async function sendMessage(text) {
    if (!state.active) {
      state.active = { id: crypto.randomUUID(), createdAt: new Date().toISOString(), preview: text.slice(0, 40), messages: [] };
      state.sessions.unshift(state.active);
    }
    const session = state.active;
    const answer = { id: crypto.randomUUID(), role: "assistant", content: "", thoughts: [], isStreaming: true };
    session.messages.push({ id: crypto.randomUUID(), role: "user", content: text, thoughts: [], isStreaming: false }, answer);
    update({ error: "" });
    const response = await fetch(`${server}/chat`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ session_id: session.id, message: text }),
    });
    for await (const frame of frames(response.body)) {
      dispatch(answer, frame);
      update({});
    }
  }

  return { state, sendMessage, newChat: () => update({ active: null, error: "" }), open: (session) => update({ active: session, error: "" }) };
}
