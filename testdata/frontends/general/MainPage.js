// pages/MainPage.tsx and components/panels of the document.
import { generalChatApi } from "./api.js";
import { useGeneralChat } from "./useGeneralChat.js";
import { element, WorkspacePanel } from "./workspace.js";

const $ = (id) => document.getElementById(id);
const selected = { selectedTool: null, selectedToolHistory: null };
const { state, actions } = useGeneralChat(render);

function button(label, onclick, name = label) {
  const made = element("button", label);
  made.setAttribute("aria-label", name);
  made.onclick = onclick;
  return made;
}

function select(changes) {
  Object.assign(selected, { selectedTool: null, selectedToolHistory: null }, changes);
  render(state);
}

/** Section 5: markers [[tool:N]] in the text become inline cards of tool_history[N]. */
function text(message) {
  const history = message.custom_payload?.type === "tool_history" ? message.custom_payload.data : [];
  const parts = message.content.split(/\[\[tool:(\d+)\]\]/);
  const made = element("p", "", ...parts.map((part, i) => {
    const tool = i % 2 ? history[Number(part)] : null;
    return tool ? button(tool.tool_name, () => select({ selectedTool: tool }), `Tool ${tool.tool_name}`) : i % 2 ? "" : part;
  }));
  if (history.length > 0) made.append(button("Tool history", () => select({ selectedToolHistory: history })));
  return made;
}

function messageView(message) {
  const made = element("article", text(message));
  made.setAttribute("aria-label", message.role);
  for (const { label, value } of message.suggested_values ?? [])
    made.append(button(label ?? value, () => actions.sendMessage(value, "value_selected", { action_identifier: label ?? value, action_data: value })));
  for (const { label, type, metadata } of message.suggested_actions ?? [])
    made.append(button(label, () => actions.sendMessage(label, "action_executed", { action_identifier: type, action_data: metadata })));
  return made;
}

function conversationView({ id, title }) {
  const made = element("li", button(title, () => actions.loadConversation(id)), button("×", () => actions.deleteConversation(id), `Delete ${title}`));
  if (id === state.conversationId) made.setAttribute("aria-current", "true");
  return made;
}

function render(now) {
  $("conversations").replaceChildren(...now.conversations.map(conversationView));
  $("messages").replaceChildren(...now.messages.map(messageView));
  $("streaming").textContent = now.streamingText;
  $("status").textContent = now.statusText ?? "";
  $("error").textContent = now.error ?? "";
  $("progress").replaceChildren(...(now.activeToolProgress?.updates ?? []).map((u) => element("li", `${u.stage}: ${u.message} ${u.progress === undefined ? "" : `${Math.round(u.progress * 100)} %`}`)));
  $("send").hidden = now.isLoading;
  $("cancel").hidden = !now.isLoading;
  const activePayload = now.messages.findLast((m) => m.workspace_payload)?.workspace_payload;
  $("workspace").replaceChildren(WorkspacePanel({ ...selected, activePayload }));
}

$("new").onclick = () => actions.newConversation();
$("cancel").onclick = () => actions.cancelRequest();
$("form").onsubmit = (event) => {
  event.preventDefault();
  select({});
  actions.sendMessage($("input").value);
  $("input").value = "";
};
await actions.refreshConversations();
$("tools").replaceChildren(...(await generalChatApi.tools()).map((tool) => element("li", tool.name)));
