import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/geist-mono/wght.css";
import "./styles.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { open } from "./lib/api/open";
import { keepTools } from "./lib/chat/chatTools";
import { nonce } from "./lib/nonce";

// What keeps the page from scrolling behind a dialog makes a <style>, and looks here for its nonce.
Object.assign(globalThis, { __webpack_nonce__: nonce() });

keepTools();

const root = document.getElementById("root");
if (root) {
  void open().then(() =>
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  );
}
