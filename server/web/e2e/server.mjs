// A real `fettle serve` process, with data, settings and a home of its own.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** project is the folder of the sources. */
export const project = fileURLToPath(new URL("../../..", import.meta.url));

// A machine that is busy with other tests starts a program slowly.
const startTime = 60_000;
// As long as `fettle serve` gives its turns, and then some.
const endTime = 45_000;

const foreign = /^(FETTLE_|OPENAI_|ANTHROPIC_|MISTRAL_|OLLAMA_|GEMINI_|GOOGLE_|XDG_|OTEL_)/;

function environment(dir, extra) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  for (const name of ["data", "home", "run", "work"]) mkdirSync(join(dir, name), { recursive: true, mode: 0o700 });
  return {
    ...env, HOME: join(dir, "home"), FETTLE_DATA: join(dir, "data"), FETTLE_CONFIG: join(dir, "config.yaml"),
    XDG_RUNTIME_DIR: join(dir, "run"), TMPDIR: join(dir, "run"), TMP: join(dir, "run"), TEMP: join(dir, "run"), ...extra,
  };
}

function program() {
  const name = process.env.FETTLE_PROGRAM;
  if (!name) throw new Error("FETTLE_PROGRAM doesn't name the fettle that is tried");
  return name;
}

/**
 * serve starts a server. models are files of the script provider by name, written
 * where "script/NAME" finds them; config is the text of the configuration; toolsets
 * are folders or bundles to import before it starts; before does what else is to be
 * done then.
 */
export async function serve({ args = [], models = {}, config = "{}\n", toolsets = [], env = {}, before } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "fettle-page-"));
  const own = environment(dir, env);
  writeFileSync(own.FETTLE_CONFIG, config, { mode: 0o600 });
  const work = join(dir, "work");
  for (const [name, text] of Object.entries(models)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  const server = new Server(dir, own, work);
  try {
    for (const toolset of toolsets) server.run("toolset", "import", toolset, "--yes");
    before?.(server);
    await server.start(args);
  } catch (error) {
    await server.end();
    throw error;
  }
  return server;
}

class Server {
  constructor(dir, env, work) {
    Object.assign(this, { dir, env, work, log: "", url: "", token: "", child: null, ended: null });
  }

  /** run runs another command of fettle on the same data, and gives what it prints. */
  run(...args) {
    const done = spawnSync(program(), args, { cwd: this.work, env: this.env, encoding: "utf8", timeout: startTime });
    if (done.status !== 0) throw new Error(`fettle ${args.join(" ")} ended with ${done.status}: ${done.error ?? done.stderr}`);
    return done.stdout;
  }

  async start(args, listen = "127.0.0.1:0") {
    const child = spawn(program(), ["serve", "--print-url", "--listen", listen, "--log", "text", "--drain", "1s", ...args], {
      cwd: this.work, env: this.env, stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    this.ended = new Promise((resolve) => child.once("close", resolve));
    child.stderr.on("data", (chunk) => (this.log += chunk));
    const line = await new Promise((resolve, reject) => {
      let out = "";
      const timer = setTimeout(() => reject(new Error(`fettle serve printed no address within ${startTime / 1000} s\n${this.log}`)), startTime);
      const stop = (f, value) => {
        clearTimeout(timer);
        f(value);
      };
      child.stdout.on("data", (chunk) => {
        out += chunk;
        if (out.includes("\n")) stop(resolve, out.trim());
      });
      child.once("error", (error) => stop(reject, error));
      child.once("exit", (status) => stop(reject, new Error(`fettle serve ended with ${status}\n${this.log}`)));
    });
    this.address = line; // with the token in the fragment, as it was printed
    [this.url, this.token] = line.split("/#token=");
  }

  /** api asks the server as a program does, and gives what it answers. */
  async api(path, { method = "GET", body, raw = false, headers = {} } = {}) {
    const res = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await res.text();
    if (!res.ok) throw new Error(`${method} ${path}: ${res.status} ${text}`);
    return raw ? text : text ? JSON.parse(text) : null;
  }

  /** ask has a turn made whole, as a program does, and gives its chat and its frames. */
  async ask(message, extra = {}) {
    const text = await this.api("/api/stream", { method: "POST", body: { message, ...extra }, raw: true });
    const frames = text.split("\n\n").flatMap((frame) => {
      const data = frame.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : [])).join("\n");
      return data && data !== "[DONE]" ? [JSON.parse(data)] : [];
    });
    return frames;
  }

  /** turn has a turn made as a page does, and waits for its end. */
  async turn(message, extra = {}) {
    const started = await this.api("/api/turns", { method: "POST", body: { message, ...extra } });
    await this.api(`/api/turns/${started.turn_id}/events`, { raw: true });
    return started;
  }

  /** stop ends the process; its data stay. */
  async stop() {
    const { child } = this;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), endTime);
      await this.ended;
      clearTimeout(timer);
    }
  }

  /** restart ends the process and starts another one on the same data, at an address of its own. */
  async restart(args) {
    await this.stop();
    await this.start(args);
  }

  async end() {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
