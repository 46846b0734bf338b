// lib/api/generalChatApi.ts and lib/api/conversationApi.ts of the document.
const place = new URLSearchParams(location.hash.slice(1));
const server = place.get("server") ?? "http://localhost:8000";

async function request(path, { method = "GET", body, signal } = {}) {
  const response = await fetch(server + path, {
    method,
    signal,
    headers: { Authorization: `Bearer ${place.get("token")}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error((await response.json()).error.message);
  return response;
}

const json = async (path, options) => (await request(path, options)).json();

export const generalChatApi = {
  /** streamMessage yields the typed events of section 2: the JSON after "data: ". */
  async *streamMessage(message, signal) {
    const response = await request("/api/stream", { method: "POST", body: message, signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
    }
  },
  tools: async () => (await json("/api/available-tools")).groups.flatMap((group) => group.tools),
};

/** A conversation's id is a number, as in the document. */
export const conversationApi = {
  list: async () => (await json("/api/chats")).chats.map(({ number, title }) => ({ id: number, title })),
  create: async () => (await json("/api/chats", { method: "POST", body: {} })).chat.number,
  messages: async (id) => (await json(`/api/chats/${id}/messages`)).messages,
  remove: (id) => request(`/api/chats/${id}`, { method: "DELETE" }),
};
