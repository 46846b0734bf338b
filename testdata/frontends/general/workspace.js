// lib/workspace/workspaceMode.ts and lib/workspace/workspaceRegistry.tsx of the document.
export function element(tag, content = "", ...children) {
  const made = document.createElement(tag);
  made.append(content, ...children);
  return made;
}

/** getWorkspaceMode has the priorities of section 4 that this front end can come to. */
export function getWorkspaceMode({ selectedTool, selectedToolHistory, activePayload }) {
  if (selectedTool) return { mode: "tool", tool: selectedTool };
  if (selectedToolHistory) return { mode: "tool_history", history: selectedToolHistory };
  if (activePayload) return { mode: "payload", payload: activePayload };
  return { mode: "empty" };
}

const StandardPayloadView = ({ payload }) =>
  element("article", element("h2", payload.title), element("p", payload.content), element("pre", JSON.stringify(payload.data, null, 2)));

const ReviewAnalysisView = ({ payload }) => {
  const { business, overview, verdict } = payload.data;
  return element("article", element("h2", payload.title), element("p", payload.content),
    element("p", `${overview.total} reviews of ${business.name}: ${verdict.score} of 100`));
};

// "Adding New Payload Types": a view of one's own, and its entry in the registry.
const MyNewTypeView = ({ payload }) => element("article", element("h2", payload.title), element("p", `${payload.data.steps} steps were made`));

export const payloadViewRegistry = { review_analysis: ReviewAnalysisView, my_new_type: MyNewTypeView };

export const getPayloadView = (payloadType) => payloadViewRegistry[payloadType] || StandardPayloadView;

const toolView = (tool) =>
  element("article", element("h2", tool.tool_name), element("pre", JSON.stringify(tool.input, null, 2)), element("pre", tool.output));

export function WorkspacePanel(state) {
  const mode = getWorkspaceMode(state);
  switch (mode.mode) {
    case "tool":
      return toolView(mode.tool);
    case "tool_history":
      return element("article", "", ...mode.history.map(toolView));
    case "payload":
      return getPayloadView(mode.payload.type)({ payload: mode.payload });
    default:
      return element("p", "Nothing to show yet");
  }
}
