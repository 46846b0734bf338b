import { ApiFault, Unreachable } from "@/lib/api/fault";
import { token } from "@/lib/api/token";
import { mediaType, type ImportPlan } from "./consent";

/** Bundle is a file that the user chose, or a toolset of the gallery, which is on the server. */
export type Bundle = File | { name: string; size: number; gallery: string };

/**
 * sendBundle looks at a bundle; with `approve`, which is of the look's answer, it
 * installs it. XMLHttpRequest tells how much is sent, which fetch can't.
 */
export function sendBundle(file: Bundle, approve: string, onProgress: (part: number) => void, signal: AbortSignal): Promise<ImportPlan> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const shipped = "gallery" in file ? file.gallery : "";
    request.open("POST", (shipped ? "/api/gallery/" + encodeURIComponent(shipped) : "/api/toolsets") + (approve ? "?approve=" + encodeURIComponent(approve) : ""));
    request.setRequestHeader("Authorization", "Bearer " + token());
    if (!shipped) request.setRequestHeader("Content-Type", mediaType(file.name));
    request.responseType = "json";
    request.upload.addEventListener("progress", (e) => e.lengthComputable && onProgress(e.loaded / e.total));
    request.addEventListener("load", () => {
      const body = request.response as (ImportPlan & { error?: { code: string; message: string } }) | null;
      if (request.status < 300 && body) resolve(body);
      else reject(new ApiFault(request.status, body?.error ?? {}));
    });
    request.addEventListener("error", () => reject(new Unreachable()));
    request.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send("gallery" in file ? null : file);
  });
}
