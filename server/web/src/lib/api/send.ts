// A body that may be large, with how far it is: fetch tells nothing of what was sent.
import { addressOf } from "./client";
import { faultOf, Unreachable } from "./fault";
import { token } from "./token";

export interface Sending {
  method: string;
  body: Blob | string;
  headers: Record<string, string>;
  signal?: AbortSignal;
  /** hears how many bytes were sent, now and then */
  onSent?(bytes: number): void;
}

/** send sends a body, and gives what the server answers. It throws as request does. */
export function send(path: string, { method, body, headers, signal, onSent }: Sending): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(stopped());
      return;
    }
    const sending = new XMLHttpRequest();
    const stop = () => sending.abort();
    sending.open(method, addressOf(path));
    for (const [name, value] of Object.entries(headers)) sending.setRequestHeader(name, value);
    if (token()) sending.setRequestHeader("Authorization", "Bearer " + token());
    sending.upload.onprogress = (event) => onSent?.(event.loaded);
    sending.onload = () => {
      const { status } = sending;
      // No answer without content may have any.
      const response = new Response(status === 204 || status === 304 ? null : sending.responseText, { status });
      if (response.ok) resolve(response);
      else faultOf(response).then(reject, reject);
    };
    sending.onerror = () => reject(new Unreachable());
    sending.onabort = () => reject(stopped());
    sending.onloadend = () => signal?.removeEventListener("abort", stop);
    signal?.addEventListener("abort", stop, { once: true });
    sending.send(body);
  });
}

function stopped() {
  return new DOMException("the upload was stopped", "AbortError");
}
