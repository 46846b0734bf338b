import { useState } from "react";
import { tell, tellFault } from "@/components/ui/Toasts";
import { ApiFault } from "@/lib/api/fault";
import { textOf } from "./kinds";
import { draftKey, drop, rebase, useDrafts } from "./drafts";
import { takeBack } from "./takeBack";
import { useRefresh } from "./useWorkspace";
import { putFile, readPart } from "./workspaceApi";

/** Conflict is the file as someone else left it while it was edited here. */
export interface Conflict {
  theirs: string;
  sha256: string;
  gone: boolean; // it was removed
}

/** useEditedFile is a text of the workspace with what a person makes of it. */
export function useEditedFile(chatId: string, path: string, text: string, sha256: string) {
  const draft = useDrafts((s) => s.drafts[draftKey(chatId, path)]);
  const keep = useDrafts((s) => s.keep);
  const [saving, setSaving] = useState(false);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const refresh = useRefresh(chatId);

  const change = (next: string) => {
    const was = draft?.was ?? sha256;
    // What is again as it was is no draft, unless the file has moved on below it.
    if (next === text && was === sha256) keep(chatId, path, null);
    else keep(chatId, path, { text: next, was });
  };

  const save = async (over?: Conflict) => {
    if (!draft || saving) return;
    setSaving(true);
    try {
      const only = over?.gone ? "new" : { was: over?.sha256 ?? draft.was };
      const done = await putFile(chatId, path, draft.text, only);
      setConflict(null);
      const digest = done.changes.find((c) => c.path === path)?.new?.sha256;
      if (digest) rebase(chatId, path, digest);
      await refresh();
      drop(chatId, path, draft.text);
      tell(`Saved ${path}`, { label: "Undo", run: () => void takeBack(chatId, done, [path]).then(refresh) });
    } catch (error) {
      if (error instanceof ApiFault && error.status === 409) {
        const now = await current(chatId, path, error);
        // Where it is what was edited, something else was in the way: a turn that runs.
        if (now && (now.gone || now.sha256 !== draft.was)) {
          setConflict(now);
          return;
        }
      }
      tellFault(`${path} was not saved`, error);
    } finally {
      setSaving(false);
    }
  };

  return {
    text: draft?.text ?? text,
    dirty: draft !== undefined,
    /** someone else has changed the file since the draft was begun */
    behind: !saving && draft !== undefined && sha256 !== "" && draft.was !== sha256,
    saving,
    conflict,
    change,
    save: () => save(),
    saveOver: () => conflict && save(conflict),
    discard: () => {
      keep(chatId, path, null);
      setConflict(null);
      void refresh();
    },
    closeConflict: () => setConflict(null),
  };
}

async function current(chatId: string, path: string, refusal: ApiFault): Promise<Conflict | null> {
  try {
    const part = await readPart(chatId, path, {}, 4 << 20);
    return { theirs: textOf(part.bytes, true) ?? "", sha256: part.sha256, gone: false };
  } catch (error) {
    if (error instanceof ApiFault && error.status === 404) return { theirs: "", sha256: "", gone: true };
    tellFault("The file could not be read again", refusal);
    return null;
  }
}
