import { api, request, unwrap, type Schemas } from "@/lib/api/client";
import { send } from "@/lib/api/send";

export type FileInfo = Schemas["file"];
export type FileChange = Schemas["fileChange"];
export type Restored = Schemas["restored"];
export type Diff = Schemas["diff"];

/** WorkspaceState is a state with what made it and what it changed: how many paths, and the first of them. */
export type WorkspaceState = Schemas["workspaceState"];

/** Branch is one of the chat's branches, with the state that it ended with. */
export type Branch = Schemas["Branch"];

/** FileState names a state of a file: of the chat now, of a manifest, or after a call. */
export interface FileState {
  manifest?: string;
  tool_call_id?: string;
}

/** filePath is the address of a file; each part of its path is encoded by itself. */
export function filePath(chatId: string, path: string, state: FileState = {}): string {
  const query = new URLSearchParams();
  if (state.manifest) query.set("manifest", state.manifest);
  if (state.tool_call_id) query.set("tool_call_id", state.tool_call_id);
  const at = path.split("/").map(encodeURIComponent).join("/");
  const text = query.toString();
  return `/api/chats/${encodeURIComponent(chatId)}/workspace/files/${at}${text ? "?" + text : ""}`;
}

export async function listFiles(chatId: string, manifest?: string, signal?: AbortSignal) {
  return unwrap(
    await api.GET("/api/chats/{chat}/workspace/files", {
      params: { path: { chat: chatId }, query: { manifest } },
      signal,
    }),
  );
}

export async function listStates(chatId: string, limit: number, signal?: AbortSignal) {
  return unwrap(
    await api.GET("/api/chats/{chat}/workspace/states", {
      params: { path: { chat: chatId }, query: { limit, changes: true, all: true } },
      signal,
    }),
  );
}

export async function listBranches(chatId: string, signal?: AbortSignal): Promise<Branch[]> {
  return unwrap(await api.GET("/api/chats/{chat}/branches", { params: { path: { chat: chatId } }, signal })).branches;
}

export async function diffStates(chatId: string, from?: string, to?: string, signal?: AbortSignal): Promise<Diff> {
  return unwrap(
    await api.GET("/api/chats/{chat}/workspace/diff", {
      params: { path: { chat: chatId }, query: { from, to } },
      signal,
    }),
  );
}

/** firstPart is how much of a file is read before someone asks for more. */
export const firstPart = 1 << 20;

export interface FilePart {
  bytes: Uint8Array<ArrayBuffer>;
  size: number; // of the whole file
  sha256: string;
}

/** readPart reads a file from its beginning, at most `limit` bytes of it; with 0 what is known to be empty. */
export async function readPart(chatId: string, path: string, state: FileState, limit = firstPart, signal?: AbortSignal): Promise<FilePart> {
  const response = await request(filePath(chatId, path, state), { headers: limit > 0 ? { Range: `bytes=0-${limit - 1}` } : {}, signal }).catch(
    (error: unknown) => {
      // An empty file has no first byte.
      if (isStatus(error, 416)) return request(filePath(chatId, path, state), { signal });
      throw error;
    },
  );
  const bytes = new Uint8Array(await response.arrayBuffer());
  const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  return { bytes, size: total ? Number(total) : bytes.length, sha256: (response.headers.get("ETag") ?? "").replaceAll('"', "") };
}

function isStatus(error: unknown, status: number): boolean {
  return typeof error === "object" && error !== null && "status" in error && error.status === status;
}

export async function readBlob(chatId: string, path: string, state: FileState, signal?: AbortSignal): Promise<Blob> {
  const response = await request(filePath(chatId, path, state), { signal });
  return response.blob();
}

/** Precondition is what a file has to be for a write to happen: that digest, or "new". */
export type Precondition = { was: string } | "new" | null;

export async function putFile(chatId: string, path: string, content: BodyInit, only: Precondition = null): Promise<Restored> {
  const headers: Record<string, string> = { "Content-Type": "application/octet-stream" };
  if (only === "new") headers["If-None-Match"] = "*";
  else if (only) headers["If-Match"] = `"${only.was}"`;
  const response = await request(filePath(chatId, path), { method: "PUT", body: content, headers });
  return (await response.json()) as Restored;
}

/** uploadFile is putFile for what may be large: it tells how far it is, and can be stopped. */
export async function uploadFile(chatId: string, path: string, file: File, o: { signal: AbortSignal; onSent(bytes: number): void }): Promise<Restored> {
  const response = await send(filePath(chatId, path), { method: "PUT", body: file, headers: { "Content-Type": "application/octet-stream" }, ...o });
  return (await response.json()) as Restored;
}

export async function deleteFile(chatId: string, path: string): Promise<Restored> {
  const response = await request(filePath(chatId, path), { method: "DELETE" });
  return (await response.json()) as Restored;
}

export async function moveFile(chatId: string, from: string, to: string): Promise<Restored> {
  return unwrap(await api.POST("/api/chats/{chat}/workspace/move", { params: ofChat(chatId), body: { from, to } }));
}

/** How a state is brought back: what someone else changed since stops it, unless it is kept or overwritten. */
export interface RestoreOptions {
  paths?: string[];
  keep?: string[];
  overwrite?: boolean;
  dry_run?: boolean;
}

export async function restoreState(chatId: string, manifest: string, options: RestoreOptions = {}): Promise<Restored> {
  return unwrap(await api.POST("/api/chats/{chat}/workspace/restore", { params: ofChat(chatId), body: { manifest, ...options } }));
}

/** undoCall reverts what one call did, and leaves what was done after it. */
export async function undoCall(chatId: string, call: string, options: RestoreOptions = {}): Promise<Restored> {
  return unwrap(await api.POST("/api/chats/{chat}/workspace/undo", { params: ofChat(chatId), body: { call, ...options } }));
}

export async function undo(chatId: string, options: RestoreOptions = {}): Promise<Restored> {
  return unwrap(await api.POST("/api/chats/{chat}/workspace/undo", { params: ofChat(chatId), body: { steps: 1, ...options } }));
}

export async function redo(chatId: string, options: RestoreOptions = {}): Promise<Restored> {
  return unwrap(await api.POST("/api/chats/{chat}/workspace/redo", { params: ofChat(chatId), body: { steps: 1, ...options } }));
}

export async function reviewCutCall(chatId: string, call: string, signal?: AbortSignal) {
  return unwrap(await api.GET("/api/chats/{chat}/workspace/cut-calls/{call}", { params: { path: { chat: chatId, call } }, signal }));
}

export async function applyCutCall(chatId: string, call: string) {
  return unwrap(await api.POST("/api/chats/{chat}/workspace/cut-calls/{call}/apply", { params: { path: { chat: chatId, call } } }));
}

export async function discardCutCall(chatId: string, call: string): Promise<void> {
  await request(`/api/chats/${encodeURIComponent(chatId)}/workspace/cut-calls/${encodeURIComponent(call)}`, { method: "DELETE" });
}

function ofChat(chat: string) {
  return { path: { chat } };
}
