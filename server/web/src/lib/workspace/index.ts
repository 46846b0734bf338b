export * from "./workspaceMode";
export * from "./workspaceRegistry";
export { dataOf, shownAsWorkspace, workspacePayload } from "./payload";
