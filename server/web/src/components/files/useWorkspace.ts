import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { diffStates, listBranches, listFiles, listStates, readPart, type FileState } from "./workspaceApi";

// All keys begin with ["workspace", chatId], which the chat invalidates when a
// call or a turn ends.

// A state that has a name never changes.
const forever = { staleTime: Infinity };

export function useFiles(chatId: string, manifestId?: string) {
  return useQuery({
    queryKey: ["workspace", chatId, "files", manifestId ?? "@"],
    queryFn: ({ signal }) => listFiles(chatId, manifestId, signal),
    ...(manifestId ? forever : {}),
  });
}

export function useStates(chatId: string, limit = 100) {
  return useQuery({
    queryKey: ["workspace", chatId, "states", limit],
    queryFn: ({ signal }) => listStates(chatId, limit, signal),
    placeholderData: keepPreviousData,
  });
}

/** useBranches are the chat's branches; what ended them changes with the chat. */
export function useBranches(chatId: string) {
  return useQuery({
    queryKey: ["workspace", chatId, "branches"],
    queryFn: ({ signal }) => listBranches(chatId, signal),
  });
}

export function useDiff(chatId: string, from?: string, to?: string, enabled = true) {
  return useQuery({
    queryKey: ["workspace", chatId, "diff", from ?? "", to ?? "@"],
    queryFn: ({ signal }) => diffStates(chatId, from, to, signal),
    enabled,
    ...(from && to ? forever : {}),
  });
}

/** useFilePart reads the beginning of a file; digest makes another one of it where it changes. */
export function useFilePart(chatId: string, path: string, state: FileState, limit: number, digest = "") {
  return useQuery({
    queryKey: ["workspace", chatId, "file", path, state.manifest ?? "", state.tool_call_id ?? "", limit, digest],
    queryFn: ({ signal }) => readPart(chatId, path, state, limit, signal),
    placeholderData: (before, query) => (query?.queryKey[3] === path ? before : undefined),
  });
}

/** useRefresh tells all views of a chat's workspace that it is another one. */
export function useRefresh(chatId: string) {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries({ queryKey: ["workspace", chatId] }), [client, chatId]);
}
