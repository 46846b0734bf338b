// App.tsx and the components of the document.
import { useChat } from "./useChat.js";

const $ = (id) => document.getElementById(id);
const { state, sendMessage, newChat, open } = useChat(render);

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

const format = {
  agent_start: (step) => `▶ ${step.agent} agent activated`,
  tool_call: (step) => `→ calling ${step.tool}(${JSON.stringify(step.query)})`,
  tool_result: (step) => `← result: ${step.result}`,
  handoff: (step) => `⇒ handing off to ${step.to}`,
};

/** ThoughtProcess groups the steps by agent, with a label in capitals above each group. */
function ThoughtProcess({ thoughts }) {
  let agent = "";
  return element("section", "thoughts", ...thoughts.flatMap((step) => {
    const line = element("p", "", format[step.type](step));
    const now = step.agent ?? step.from;
    if (now === agent) return [line];
    agent = now;
    return [element("strong", "", now.toUpperCase()), line];
  }));
}

function messageView(message) {
  if (message.role === "user") return element("p", "user", message.content);
  const thoughts = message.thoughts.length > 0 ? [ThoughtProcess(message)] : [];
  const made = element("article", "", ...thoughts, element("div", "content", message.content + (message.isStreaming ? "|" : "")));
  made.setAttribute("aria-busy", String(message.isStreaming));
  return made;
}

function sessionView(session) {
  const choose = element("button", "", session.preview);
  choose.onclick = () => open(session);
  const made = element("li", "", choose, element("time", "", session.createdAt));
  if (session === state.active) made.setAttribute("aria-current", "true");
  return made;
}

function render(now) {
  const messages = now.active?.messages ?? [];
  $("sessions").replaceChildren(...now.sessions.map(sessionView));
  $("messages").replaceChildren(...messages.map(messageView));
  $("error").textContent = now.error;
  $("input").disabled = $("send").disabled = messages.some((m) => m.isStreaming);
}

function submit(event) {
  event.preventDefault();
  const text = $("input").value.trim();
  $("input").value = "";
  if (text) sendMessage(text);
}

$("new").onclick = newChat;
$("form").onsubmit = submit;
$("input").onkeydown = (event) => event.key === "Enter" && !event.shiftKey && submit(event);
render(state);
