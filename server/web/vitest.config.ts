import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { alias } from "./vite.alias.ts";

export default defineConfig({
  resolve: { alias },
  plugins: [react()],
  // A test waits up to 10 s for lazy parts, which a busy machine needs.
  test: { testTimeout: 20_000, environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true },
});
