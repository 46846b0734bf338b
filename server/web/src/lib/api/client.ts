import createClient from "openapi-fetch";
import { faultOf, Unreachable } from "./fault";
import type { components, paths } from "./schema";
import { token } from "./token";

export type Schemas = components["schemas"];
export type Chat = Schemas["Chat"];
export type Message = Schemas["GeneralMessage"];
export type Part = Schemas["Part"];
export type Agent = Schemas["Agent"];
export type ListedTool = Schemas["ListedTool"];
export type TurnEvent = Schemas["TurnEvent"];

let base = "";

/** useServer names another server than the page's own: the web component's. */
export function useServer(url: string) {
  base = url.replace(/\/$/, "");
}

/** addressOf is where a path of the API is. */
export const addressOf = (path: string) => base + path;

/** request fetches an address of the API with the token. It throws ApiFault, or Unreachable. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token()) headers.set("Authorization", "Bearer " + token());
  const response = await fetch(addressOf(path), { ...init, headers, credentials: "omit" }).catch((error: unknown) => {
    // fetch says TypeError where there is no network; who stopped it hears that.
    throw error instanceof TypeError ? new Unreachable(error) : error;
  });
  if (!response.ok) throw await faultOf(response);
  return response;
}

/**
 * api is the typed client of /openapi.json. A failure throws ApiFault, so that
 * `data` is there whenever a call returns: use `unwrap`.
 */
export const api = createClient<paths>({
  baseUrl: "",
  fetch: async (input: Request) => {
    const url = new URL(input.url, location.href);
    return request(url.pathname + url.search, {
      method: input.method,
      headers: input.headers,
      body: input.method === "GET" || input.method === "HEAD" ? undefined : await input.blob(),
      signal: input.signal,
    });
  },
});

/** unwrap gives the data of a call that can't have failed without throwing. */
export function unwrap<T>(result: { data?: T }): NonNullable<T> {
  if (result.data === undefined || result.data === null) throw new Error("the server answered with nothing");
  return result.data as NonNullable<T>;
}

/**
 * linkTo gives an address of a file for what can't send headers: the parts of a film
 * that its element asks for. It lets that file be read, for some hours, and nothing
 * else, since people copy it. It throws as api does.
 */
export async function linkTo(path: string): Promise<string> {
  return addressOf(unwrap(await api.POST("/api/links", { body: { path } })).path);
}
