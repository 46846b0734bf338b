import { dataOf } from "@/lib/workspace/payload";
import { fields, records, text } from "@/lib/workspace/read";
import type { ToolCall, WorkspacePayload } from "@/types/chat";
import { ToolHistory } from "./ToolHistory";

/** ToolHistoryPayloadView shows document 000's tool_history where it comes as a payload. */
export default function ToolHistoryPayloadView({ payload }: { payload: WorkspacePayload }) {
  const data = dataOf(payload);
  const calls = records(Array.isArray(data) ? data : fields(data).calls).map(
    (c): ToolCall => ({ ...c, tool_name: text(c.tool_name, 200) || "A tool", input: fields(c.input), output: typeof c.output === "string" ? c.output : "" }),
  );
  return <ToolHistory calls={calls} />;
}
